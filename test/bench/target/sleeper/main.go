//go:build linux

// Command sleeper measures the machine itself: a bare thread sleeps until each due time of a constant-rate schedule
// and prints how late it woke, as {"p50": ns, "p99": ns, "max": ns}. Its timer slack is 1 ns, instead of 50 us for
// ordinary threads. With -spin it reads the clock continuously instead of sleeping, like a sender thread that
// keeps its core busy, which the scheduler preempts for other threads.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"unsafe"
)

const (
	clockMonotonic  = 1
	timerAbsolute   = 1
	prSetTimerSlack = 29
	leadNs          = 30e6
)

func main() {
	rate := flag.Float64("rate", 1000, "wake-ups per second")
	seconds := flag.Float64("seconds", 5, "duration")
	spin := flag.Bool("spin", false, "wait without sleeping")
	flag.Parse()
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 1, 0)
	late := make([]int64, int(*rate**seconds))
	start := now() + leadNs
	for i := range late {
		due := start + int64(float64(i)*1e9 / *rate)
		for *spin && now() < due {
		}
		sleepUntil(due)
		late[i] = now() - due
	}
	slices.Sort(late)
	rank := func(percent int) int64 { return late[(len(late)*percent+99)/100-1] }
	text, err := json.Marshal(map[string]int64{"p50": rank(50), "p99": rank(99), "max": late[len(late)-1]})
	if err != nil {
		fmt.Fprintln(os.Stderr, "sleeper:", err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}

// sleepUntil returns at once if the time is past. A signal of Go's runtime may end the sleep early.
func sleepUntil(due int64) {
	at := syscall.NsecToTimespec(due)
	for now() < due {
		syscall.RawSyscall6(syscall.SYS_CLOCK_NANOSLEEP, clockMonotonic, timerAbsolute, uintptr(unsafe.Pointer(&at)), 0, 0, 0)
	}
}

func now() int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}
