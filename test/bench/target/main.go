//go:build linux

// Command target is the benches' own HTTP target: one thread around epoll that polls without sleeping, so that its
// times are good to microseconds. It keeps its own clock, knows when it froze, and can be a single-server queue with a
// fixed service time.
//
// It prints one JSON line {"port": N} when it listens, and ends when its standard input does. The first -skip requests
// are set-up: answered at once, and neither counted nor recorded. GET /_arrivals answers what was recorded so far and
// forgets it; GET /_stats says what became of the requests.
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

// memoryLimit is where the garbage collector begins: a collection would take the core from the loop.
const memoryLimit = 512 << 20

const ocspResponse = "application/ocsp-response"

type settings struct {
	delay, spread, service, freezeEvery, freezeFor time.Duration
	hangEvery, skip                                uint64
	record, spin                                   bool
}

func main() {
	var s server
	bodyFile := flag.String("body", "", "file with the body of every answer")
	bodiesFile := flag.String("bodies", "", "file with bodies to answer with in turn, each after its length as a little-endian uint32")
	flag.DurationVar(&s.delay, "delay", 0, "answer this long after the request came")
	flag.DurationVar(&s.spread, "spread", 0, "add to the delay an exponentially distributed time with this mean")
	seed := flag.Uint64("seed", 1, "seed of -spread")
	flag.DurationVar(&s.service, "service", 0, "be a single server with this service time, first come, first served")
	flag.DurationVar(&s.freezeEvery, "freeze-every", 0, "period of the freezes, counted from the first request")
	flag.DurationVar(&s.freezeFor, "freeze-for", 0, "answer nothing in the middle of each period, for this long")
	flag.Uint64Var(&s.hangEvery, "hang-every", 0, "never answer every n-th request")
	flag.Uint64Var(&s.skip, "skip", 0, "requests that are set-up and come before the load")
	flag.BoolVar(&s.record, "record", false, "remember when requests came and how long they were held")
	flag.BoolVar(&s.spin, "spin", true, "poll without sleeping: takes a core, exact to microseconds")
	flag.Parse()
	s.random = rand.New(rand.NewPCG(*seed, 0))
	body := []byte("ok")
	if *bodyFile != "" {
		read, err := os.ReadFile(*bodyFile)
		check(err)
		body = read
	}
	s.answers = [][]byte{httpAnswer("200 OK", ocspResponse, body)}
	if *bodiesFile != "" {
		s.answers = readBodies(*bodiesFile)
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit)
	runtime.LockOSThread()
	s.listen()
	go endWithInput()
	s.loop()
}

// readBodies makes the answers of -bodies; at least one.
func readBodies(file string) [][]byte {
	rest, err := os.ReadFile(file)
	check(err)
	answers := [][]byte{}
	for len(rest) >= 4 {
		end := 4 + int(binary.LittleEndian.Uint32(rest))
		answers = append(answers, httpAnswer("200 OK", ocspResponse, rest[4:end]))
		rest = rest[end:]
	}
	if len(answers) == 0 {
		check(fmt.Errorf("%s holds no body", file))
	}
	return answers
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
