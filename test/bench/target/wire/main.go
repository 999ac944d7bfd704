//go:build linux

// Command wire captures the HTTP/1.1 requests to one TCP port on the loopback interface, with the kernel's timestamps.
//
// It prints {"listening":true} once it captures, and stops when its standard input closes. Then it prints a JSON line,
// {"packets":N,"requests":N,"driftNs":N}, and N records of 20 bytes, little-endian: when the request's last segment
// was on the wire (int64, CLOCK_MONOTONIC, ns), the same of the response (int64; 0: no response), the client's port (uint32).
// It fails if the kernel dropped a packet. IPv4 without TLS; one request in flight per connection. Needs root.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"time"
)

// drainEvery is how long packets wait in the socket's buffer, which has room for seconds of traffic.
const drainEvery = 5 * time.Millisecond

// maxDrift is the allowed drift between the two clocks: NTP slews by at most 0.5 ms/s; a step exceeds it.
const maxDrift = 50 * time.Millisecond

func main() {
	port := flag.Uint("port", 0, "TCP port of the server")
	flag.Parse()
	if *port == 0 || *port > 65535 {
		fail(fmt.Errorf("-port is %d; set it to the server's port", *port))
	}
	capture, err := openCapture(uint16(*port))
	fail(err)
	before := readClocks()
	fmt.Println(`{"listening":true}`)

	matcher := newMatcher(uint16(*port))
	for ended := endOfInput(); ; {
		select {
		case <-ended:
			capture.drain(matcher.add)
			finish(capture, matcher.exchanges, before, readClocks())
			return
		case <-time.After(drainEvery):
			capture.drain(matcher.add)
		}
	}
}

func endOfInput() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		one := make([]byte, 1)
		for {
			if n, _ := os.Stdin.Read(one); n == 0 {
				close(ended)
				return
			}
		}
	}()
	return ended
}

func finish(capture *capture, exchanges []exchange, before, after clocks) {
	packets, drops := capture.statistics()
	if drops > 0 {
		fail(fmt.Errorf("the kernel dropped %d of %d packets; the capture is incomplete", drops, packets))
	}
	drift := after.offset() - before.offset()
	if drift > int64(maxDrift) || drift < -int64(maxDrift) {
		fail(fmt.Errorf("the system time was set during the capture, by %d ns; its timestamps are useless", drift))
	}
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintf(out, "{\"packets\":%d,\"requests\":%d,\"driftNs\":%d}\n", packets, len(exchanges), drift)
	monotonic := converter(before, after)
	record := make([]byte, 0, 20)
	for _, one := range exchanges {
		record = binary.LittleEndian.AppendUint64(record[:0], uint64(monotonic(one.request)))
		response := int64(0)
		if one.response != 0 {
			response = monotonic(one.response)
		}
		record = binary.LittleEndian.AppendUint64(record, uint64(response))
		record = binary.LittleEndian.AppendUint32(record, uint32(one.port))
		_, err := out.Write(record)
		fail(err)
	}
	fail(out.Flush())
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "wire:", err)
		os.Exit(1)
	}
}
