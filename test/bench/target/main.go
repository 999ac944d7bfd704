//go:build linux

// Command target is the benches' own HTTP target: one thread around epoll that can poll without sleeping, so that its
// arrival times are good to microseconds. It keeps its own clock, knows when it froze, and can be a single-server
// queue with a fixed service time.
//
// It prints one JSON line {"port": N} when it listens, and ends when its standard input does. GET /_arrivals answers the
// arrival times seen so far (CLOCK_MONOTONIC nanoseconds, little-endian int64) and forgets them; GET /_stats what became of
// the requests.
package main

import (
	"container/heap"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

type settings struct {
	delay, service, freezeEvery, freezeFor time.Duration
	failEvery, hangEvery                   int
	record, spin                           bool
}

type reply struct {
	at   int64 // monotonic ns
	seq  uint64
	conn *conn
	data []byte
}

type replies []reply

func (r replies) Len() int { return len(r) }
func (r replies) Less(i, j int) bool {
	return r[i].at < r[j].at || (r[i].at == r[j].at && r[i].seq < r[j].seq)
}
func (r replies) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *replies) Push(x any)   { *r = append(*r, x.(reply)) }
func (r *replies) Pop() any {
	old := *r
	last := old[len(old)-1]
	*r = old[:len(old)-1]
	return last
}

type conn struct {
	fd   int
	in   []byte
	dead bool
}

type server struct {
	settings
	epoll, listener int
	conns           map[int]*conn
	waiting         replies
	seq             uint64
	start           int64
	busyUntil       int64 // of the single server
	arrivals        []int64
	requests        uint64
	answer, failure []byte
}

func main() {
	var s server
	bodyFile := flag.String("body", "", "file with the body of every answer")
	contentType := flag.String("content-type", "application/ocsp-response", "its type")
	flag.DurationVar(&s.delay, "delay", 0, "answer this long after the request came")
	flag.DurationVar(&s.service, "service", 0, "be a single server with this service time, first come, first served")
	flag.DurationVar(&s.freezeEvery, "freeze-every", 0, "period of the freezes, from the first request on")
	flag.DurationVar(&s.freezeFor, "freeze-for", 0, "answer nothing in the first part of each period but the first, of this length")
	flag.IntVar(&s.failEvery, "fail-every", 0, "answer every n-th request with HTTP 500")
	flag.IntVar(&s.hangEvery, "hang-every", 0, "never answer every n-th request")
	flag.BoolVar(&s.record, "record", false, "remember arrival times")
	flag.BoolVar(&s.spin, "spin", true, "poll without sleeping: takes a core, exact to microseconds")
	flag.Parse()
	body := []byte("ok")
	if *bodyFile != "" {
		read, err := os.ReadFile(*bodyFile)
		check(err)
		body = read
	}
	s.answer = httpAnswer("200 OK", *contentType, body)
	s.failure = httpAnswer("500 Internal Server Error", "application/json", []byte(`{"errors":["internal error"]}`))
	runtime.LockOSThread()
	s.listen()
	go func() {
		one := make([]byte, 1)
		for {
			if n, _ := os.Stdin.Read(one); n == 0 {
				os.Exit(0)
			}
		}
	}()
	s.loop()
}

func (s *server) listen() {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	check(err)
	check(syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	check(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	check(syscall.Listen(fd, 4096))
	name, err := syscall.Getsockname(fd)
	check(err)
	s.listener = fd
	s.conns = map[int]*conn{}
	s.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	check(err)
	s.watch(fd)
	fmt.Printf("{\"port\":%d}\n", name.(*syscall.SockaddrInet4).Port)
}

func (s *server) watch(fd int) {
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}
	check(syscall.EpollCtl(s.epoll, syscall.EPOLL_CTL_ADD, fd, &event))
}

func (s *server) loop() {
	events := make([]syscall.EpollEvent, 256)
	buffer := make([]byte, 64*1024)
	for {
		n, err := syscall.EpollWait(s.epoll, events, s.patience())
		if err != nil && err != syscall.EINTR {
			check(err)
		}
		now := monotonic()
		for i := 0; i < n; i++ {
			if fd := int(events[i].Fd); fd == s.listener {
				s.accept()
			} else if c := s.conns[fd]; c != nil {
				s.read(c, buffer, now)
			}
		}
		s.send(monotonic())
	}
}

// patience is the timeout of the next poll in milliseconds: none while spinning.
func (s *server) patience() int {
	if s.spin {
		return 0
	}
	if len(s.waiting) == 0 {
		return 1000
	}
	ms := (s.waiting[0].at - monotonic()) / 1e6
	return int(max(0, min(ms, 1000)))
}

func (s *server) accept() {
	for {
		fd, _, err := syscall.Accept4(s.listener, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		s.conns[fd] = &conn{fd: fd}
		s.watch(fd)
	}
}

func (s *server) read(c *conn, buffer []byte, now int64) {
	n, err := syscall.Read(c.fd, buffer)
	if err == syscall.EAGAIN {
		return
	}
	if n <= 0 || err != nil {
		s.drop(c)
		return
	}
	c.in = append(c.in, buffer[:n]...)
	for {
		path, size := parse(c.in)
		if size == 0 {
			return
		}
		s.handle(c, path, now)
		c.in = c.in[:copy(c.in, c.in[size:])]
	}
}

func (s *server) drop(c *conn) {
	c.dead = true
	delete(s.conns, c.fd)
	syscall.Close(c.fd)
}

func (s *server) handle(c *conn, path []byte, now int64) {
	switch string(path) {
	case "/_arrivals":
		raw := make([]byte, 8*len(s.arrivals))
		for i, at := range s.arrivals {
			binary.LittleEndian.PutUint64(raw[8*i:], uint64(at))
		}
		s.arrivals = s.arrivals[:0]
		s.write(c, httpAnswer("200 OK", "application/octet-stream", raw))
		return
	case "/_stats":
		text, _ := json.Marshal(map[string]any{"requests": s.requests, "startNs": s.start})
		s.write(c, httpAnswer("200 OK", "application/json", text))
		return
	}
	if s.start == 0 {
		s.start = now
	}
	s.requests++
	if s.record {
		s.arrivals = append(s.arrivals, now)
	}
	if s.hangEvery > 0 && s.requests%uint64(s.hangEvery) == 0 {
		return
	}
	data := s.answer
	if s.failEvery > 0 && s.requests%uint64(s.failEvery) == 0 {
		data = s.failure
	}
	at := s.dueAt(now)
	if at <= now && len(s.waiting) == 0 {
		s.write(c, data)
		return
	}
	s.seq++
	heap.Push(&s.waiting, reply{at: at, seq: s.seq, conn: c, data: data})
}

// dueAt says when a request that came now is answered: computed from arrival times alone, so that the queue is exact
// however late this thread wakes.
func (s *server) dueAt(now int64) int64 {
	at := now + int64(s.delay)
	if s.service > 0 {
		s.busyUntil = max(now, s.busyUntil) + int64(s.service)
		at = s.busyUntil
	}
	if s.freezeEvery > 0 {
		since := at - s.start
		into := since % int64(s.freezeEvery)
		if since >= int64(s.freezeEvery) && into < int64(s.freezeFor) {
			at += int64(s.freezeFor) - into
		}
	}
	return at
}

func (s *server) send(now int64) {
	for len(s.waiting) > 0 && s.waiting[0].at <= now {
		r := heap.Pop(&s.waiting).(reply)
		if !r.conn.dead {
			s.write(r.conn, r.data)
		}
	}
}

// write blocks until the kernel took everything: answers are small, except those of /_arrivals.
func (s *server) write(c *conn, data []byte) {
	for len(data) > 0 {
		n, err := syscall.Write(c.fd, data)
		if err == syscall.EAGAIN {
			runtime.Gosched()
			continue
		}
		if err != nil {
			s.drop(c)
			return
		}
		data = data[n:]
	}
}

// parse finds one whole request at the start of in: its path and its length with the body; 0 when it is not whole yet.
func parse(in []byte) (path []byte, size int) {
	end := index(in, "\r\n\r\n")
	if end < 0 {
		return nil, 0
	}
	head := in[:end]
	length := 0
	for i := 0; i+16 < len(head); i++ {
		if head[i] == '\n' && (head[i+1]|0x20) == 'c' && lower(head[i+1:], "content-length:") {
			for j := i + 1 + len("content-length:"); j < len(head) && head[j] != '\r'; j++ {
				if head[j] >= '0' && head[j] <= '9' {
					length = length*10 + int(head[j]-'0')
				}
			}
		}
	}
	size = end + 4 + length
	if len(in) < size {
		return nil, 0
	}
	from := index(head, " ") + 1
	to := from + index(head[from:], " ")
	return head[from:to], size
}

func lower(in []byte, want string) bool {
	if len(in) < len(want) {
		return false
	}
	for i := range want {
		c := in[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

func index(in []byte, want string) int {
	for i := 0; i+len(want) <= len(in); i++ {
		if in[i] == want[0] && string(in[i:i+len(want)]) == want {
			return i
		}
	}
	return -1
}

func httpAnswer(status, contentType string, body []byte) []byte {
	head := fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", status, contentType, len(body))
	return append([]byte(head), body...)
}

// monotonic reads CLOCK_MONOTONIC, the clock of Node's process.hrtime.
func monotonic() int64 {
	var ts syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "target:", err)
		os.Exit(1)
	}
}
