//go:build linux

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"
)

// spinFor is the end of each wait, which a timer would miss.
const spinFor = int64(2 * time.Millisecond)

// watched is a TCP connection that notes when it was last read: the arrival time of the requests in these bytes.
type watched struct {
	net.Conn
	number uint32
	at     int64
}

func (c *watched) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.at = monotonic()
	return n, err
}

type watchedListener struct {
	net.Listener
	s *server
}

func (l watchedListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.s.accepted++
	return &watched{Conn: accepted, number: l.s.accepted - 1}, nil
}

type connKey struct{}

// serveTLS is the same target behind Go's own HTTPS server, which speaks HTTP/2 and 1.1: its time for TLS and frames, some
// tens of microseconds, is not in its records.
func (s *server) serveTLS(certFile, keyFile string, body []byte) {
	certificate, err := tls.LoadX509KeyPair(certFile, keyFile)
	check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	var mutex sync.Mutex
	handler := func(w http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(connKey{}).(*watched)
		came := c.at
		_, _ = io.Copy(io.Discard, r.Body)
		mutex.Lock()
		defer mutex.Unlock()
		switch {
		case r.URL.Path == "/_arrivals":
			_, _ = w.Write(s.takeArrivals())
			return
		case r.URL.Path == "/_stats":
			_, _ = w.Write(s.stats())
			return
		case s.skip > 0:
			s.skip--
		default:
			if s.start == 0 {
				s.start = came
			}
			s.requests++
			index := len(s.arrivals)
			s.arrivals = append(s.arrivals, arrival{at: came, conn: c.number})
			at := s.dueAt(came)
			mutex.Unlock()
			wait(at)
			mutex.Lock()
			now := monotonic()
			s.held = append(s.held, now-came)
			if index < len(s.arrivals) && s.arrivals[index].at == came {
				s.arrivals[index].held = now - came
			}
			s.late = append(s.late, now-at)
		}
		w.Header().Set("Content-Type", ocspResponse)
		_, _ = w.Write(body)
	}
	web := http.Server{
		Handler:   http.HandlerFunc(handler),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c.(*tls.Conn).NetConn())
		},
	}
	fmt.Printf("{\"port\":%d}\n", listener.Addr().(*net.TCPAddr).Port)
	check(web.ServeTLS(watchedListener{listener, s}, "", ""))
}

func wait(at int64) {
	if early := at - monotonic() - spinFor; early > 0 {
		time.Sleep(time.Duration(early))
	}
	for monotonic() < at {
		runtime.Gosched()
	}
}
