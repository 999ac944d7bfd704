//go:build linux

package main

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
)

type server struct {
	settings
	recorded
	epoll, listener int
	conns           map[int]*conn
	accepted        uint32
	waiting         replies
	seq             uint64
	start           int64 // arrival of the first request, ns
	busyUntil       int64 // of the single server, ns
	requests        uint64
	responses       [][]byte // sent in turn
	turn            int
	random          *rand.Rand // of the spread
}

type conn struct {
	fd     int
	number uint32
	in     []byte
	dead   bool
}

// reply is a response that waits until it is due.
type reply struct {
	came, at int64 // monotonic ns
	arrival  int   // index into arrivals
	seq      uint64
	conn     *conn
	data     []byte
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
		n, err := syscall.EpollWait(s.epoll, events, s.pollTimeoutMs())
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

// pollTimeoutMs returns the timeout of the next poll: 0 while spinning.
func (s *server) pollTimeoutMs() int {
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
		s.conns[fd] = &conn{fd: fd, number: s.accepted}
		s.accepted++
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
	if c.dead {
		return
	}
	c.dead = true
	delete(s.conns, c.fd)
	syscall.Close(c.fd)
}

func (s *server) handle(c *conn, path []byte, now int64) {
	switch string(path) {
	case "/_arrivals":
		s.write(c, httpResponse("200 OK", "application/octet-stream", s.takeArrivals()))
		return
	case "/_stats":
		s.write(c, httpResponse("200 OK", "application/json", s.stats()))
		return
	}
	if s.skip > 0 {
		s.skip--
		s.write(c, s.nextResponse())
		return
	}
	if s.start == 0 {
		s.start = now
	}
	s.requests++
	if s.record {
		s.arrivals = append(s.arrivals, arrival{at: now, conn: c.number})
	}
	if s.hangEvery > 0 && s.requests%s.hangEvery == 0 {
		return
	}
	data := s.nextResponse()
	s.seq++
	one := reply{came: now, arrival: len(s.arrivals) - 1, at: s.dueAt(now), seq: s.seq, conn: c, data: data}
	if one.at <= now && len(s.waiting) == 0 {
		s.reply(one)
	} else {
		heap.Push(&s.waiting, one)
	}
}

func (s *server) nextResponse() []byte {
	response := s.responses[s.turn]
	s.turn = (s.turn + 1) % len(s.responses)
	return response
}

// dueAt returns when the response to a request that arrived now is due, from arrival times alone, so that the queue is
// exact even if this thread wakes late.
func (s *server) dueAt(now int64) int64 {
	at := now + int64(s.delay)
	if s.spread > 0 {
		at += int64(s.random.ExpFloat64() * float64(s.spread))
	}
	if s.service > 0 {
		s.busyUntil = max(now, s.busyUntil) + int64(s.service)
		at = s.busyUntil
	}
	if s.freezeEvery > 0 {
		begin := int64(s.freezeEvery-s.freezeFor) / 2
		into := (at - s.start) % int64(s.freezeEvery)
		if into >= begin && into < begin+int64(s.freezeFor) {
			at += begin + int64(s.freezeFor) - into
		}
	}
	return at
}

func (s *server) send(now int64) {
	for len(s.waiting) > 0 && s.waiting[0].at <= now {
		s.reply(heap.Pop(&s.waiting).(reply))
	}
}

func (s *server) reply(one reply) {
	if one.conn.dead {
		return
	}
	s.write(one.conn, one.data)
	if s.record {
		now := monotonic()
		s.held = append(s.held, now-one.came)
		if i := one.arrival; i < len(s.arrivals) && s.arrivals[i].at == one.came { // otherwise takeArrivals cleared them
			s.arrivals[i].held = now - one.came
		}
		s.late = append(s.late, now-one.at)
	}
}

// write blocks until the kernel has accepted everything: responses are small, except those of /_arrivals.
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
