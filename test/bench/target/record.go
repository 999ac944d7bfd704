//go:build linux

package main

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"syscall"
	"unsafe"
)

// arrival is the record of a request: its arrival time (CLOCK_MONOTONIC, ns) and its connection, numbered
// in the order of acceptance; held is the time until the kernel had the response, 0 if there is none.
type arrival struct {
	at, held int64
	conn     uint32
}

const arrivalBytes = 20

// recorded contains the records since the last GET /_arrivals.
type recorded struct {
	arrivals []arrival
	held     []int64 // ns from request to response
	late     []int64 // ns from the due time of a response until the kernel had it: the target's own error
}

// takeArrivals returns the arrivals as bytes, little-endian int64, int64 and uint32 each, and clears all records.
func (r *recorded) takeArrivals() []byte {
	raw := make([]byte, 0, arrivalBytes*len(r.arrivals))
	for _, one := range r.arrivals {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(one.at))
		raw = binary.LittleEndian.AppendUint64(raw, uint64(one.held))
		raw = binary.LittleEndian.AppendUint32(raw, one.conn)
	}
	r.arrivals, r.held, r.late = r.arrivals[:0], r.held[:0], r.late[:0]
	return raw
}

func (s *server) stats() []byte {
	text, err := json.Marshal(map[string]any{
		"requests":    s.requests,
		"connections": s.accepted,
		"startNs":     s.start,
		"heldNs":      summary(s.held),
		"lateNs":      summary(s.late),
	})
	check(err)
	return text
}

// summary computes percentiles by nearest rank; nil without records.
func summary(values []int64) map[string]any {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	rank := func(percent int) int64 { return sorted[(len(sorted)*percent+99)/100-1] }
	sum := int64(0)
	for _, value := range sorted {
		sum += value
	}
	return map[string]any{
		"count": len(sorted), "mean": float64(sum) / float64(len(sorted)),
		"p50": rank(50), "p90": rank(90), "p99": rank(99), "max": sorted[len(sorted)-1],
	}
}

// monotonic reads CLOCK_MONOTONIC, the clock of Node's process.hrtime.
func monotonic() int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}
