//go:build linux

package main

import (
	"syscall"
	"unsafe"
)

const (
	clockRealtime  = 0
	clockMonotonic = 1
	clockReads     = 16
)

// clocks is a reading of both clocks, in ns. The kernel stamps packets with real time; Node.js uses monotonic time.
type clocks struct{ realtime, monotonic int64 }

func (c clocks) offset() int64 { return c.realtime - c.monotonic }

// readClocks returns the fastest of several readings.
func readClocks() clocks {
	best, gap := clocks{}, int64(-1)
	for range clockReads {
		begin := readClock(clockMonotonic)
		realtime := readClock(clockRealtime)
		end := readClock(clockMonotonic)
		if gap < 0 || end-begin < gap {
			best, gap = clocks{realtime, begin + (end-begin)/2}, end-begin
		}
	}
	return best
}

func readClock(id uintptr) int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

// converter converts real time to monotonic time, interpolating the offset between two readings.
func converter(before, after clocks) func(realtime int64) int64 {
	span := float64(max(1, after.realtime-before.realtime))
	drift := float64(after.offset() - before.offset())
	return func(realtime int64) int64 {
		share := float64(realtime-before.realtime) / span
		return realtime - before.offset() - int64(drift*share)
	}
}
