//go:build linux

// Command target is the HTTP target of the benches: one thread that polls epoll without sleeping, so that its
// times are accurate to microseconds. It records its own times, can freeze, and can be a single-server queue with a
// fixed service time.
//
// It prints one JSON line {"port": N} when it listens, and exits when its standard input closes. The first -skip
// requests are setup: they get a response at once, and are neither counted nor recorded. GET /_arrivals returns the
// records so far and clears them; GET /_stats returns counts and latencies.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// memoryLimit is the heap size at which garbage collection starts, which would take the core from the loop.
const memoryLimit = 512 << 20

const ocspResponse = "application/ocsp-response"

type settings struct {
	delay, spread, service, freezeEvery, freezeFor time.Duration
	hangEvery, skip                                uint64
	record, spin                                   bool
}

func main() {
	var s server
	bodyFile := flag.String("body", "", "file with the body of every response")
	bodiesFile := flag.String("bodies", "", "file with response bodies, sent in turn, each after its length as a little-endian uint32")
	flag.DurationVar(&s.delay, "delay", 0, "respond this long after the request arrives")
	flag.DurationVar(&s.spread, "spread", 0, "add to the delay an exponentially distributed time with this mean")
	seed := flag.Uint64("seed", 1, "seed of -spread")
	flag.DurationVar(&s.service, "service", 0, "act as a single server with this service time, first come, first served")
	flag.DurationVar(&s.freezeEvery, "freeze-every", 0, "period of the freezes, counted from the first request")
	flag.DurationVar(&s.freezeFor, "freeze-for", 0, "send no responses in the middle of each period, for this long")
	flag.Uint64Var(&s.hangEvery, "hang-every", 0, "never respond to every n-th request")
	flag.Uint64Var(&s.skip, "skip", 0, "setup requests before the load")
	flag.BoolVar(&s.record, "record", false, "record arrivals and how long requests were held")
	flag.BoolVar(&s.spin, "spin", true, "poll without sleeping: occupies a core, accurate to microseconds")
	certFile := flag.String("cert", "", "file with a certificate in PEM: serve HTTPS, also over HTTP/2, with delays and freezes only")
	keyFile := flag.String("key", "", "file with its private key")
	flag.Parse()
	s.random = rand.New(rand.NewPCG(*seed, 0))
	body := []byte("ok")
	if *bodyFile != "" {
		read, err := os.ReadFile(*bodyFile)
		check(err)
		body = read
	}
	s.responses = [][]byte{httpResponse("200 OK", ocspResponse, body)}
	if *bodiesFile != "" {
		s.responses = readBodies(*bodiesFile)
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit)
	if *certFile != "" {
		go endWithInput()
		s.serveTLS(*certFile, *keyFile, body)
	}
	runtime.LockOSThread()
	s.listen()
	go endWithInput()
	s.loop()
}

// readBodies builds the responses of -bodies; at least one.
func readBodies(file string) [][]byte {
	rest, err := os.ReadFile(file)
	check(err)
	responses := [][]byte{}
	for len(rest) >= 4 {
		end := 4 + int(binary.LittleEndian.Uint32(rest))
		responses = append(responses, httpResponse("200 OK", ocspResponse, rest[4:end]))
		rest = rest[end:]
	}
	if len(responses) == 0 {
		check(fmt.Errorf("%s contains no body", file))
	}
	return responses
}

func endWithInput() {
	one := make([]byte, 1)
	for {
		if n, _ := os.Stdin.Read(one); n == 0 {
			os.Exit(0)
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "target:", err)
		os.Exit(1)
	}
}
