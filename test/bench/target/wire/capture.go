//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"syscall"
	"unsafe"
)

// From <linux/if_packet.h>, <linux/filter.h>, <asm-generic/socket.h>; package syscall has no names for these.
const (
	packetType       = -0x1000 + 4 // SKF_AD_OFF + SKF_AD_PKTTYPE
	packetOutgoing   = 4
	solPacket        = 263
	packetStatistics = 6
	soTimestampNs    = 35
	soRcvbufForce    = 33
)

const (
	bufferBytes  = 256 << 20
	snapBytes    = 128 // Ethernet, IPv4 and TCP headers with all options: 14 + 60 + 60
	batch        = 256
	controlBytes = 64
	ethernet     = 14
)

// packet contains the relevant fields of a TCP segment.
type packet struct {
	at       int64 // real time, ns
	src, dst uint16
	payload  int
	syn, end bool // end: FIN or RST
}

type mmsghdr struct {
	header syscall.Msghdr
	length uint32
	_      [4]byte
}

type capture struct {
	fd      int
	heads   [batch]mmsghdr
	vectors [batch]syscall.Iovec
	data    [batch][snapBytes]byte
	control [batch][controlBytes]byte
}

// openCapture captures outgoing packets: the loopback interface shows each again as incoming, possibly after the
// response to it.
func openCapture(port uint16) (*capture, error) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("packet capture needs root (CAP_NET_RAW and CAP_NET_ADMIN): %w", err)
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, soRcvbufForce, bufferBytes); err != nil {
		return nil, fmt.Errorf("a receive buffer of %d bytes needs root: %w", bufferBytes, err)
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, soTimestampNs, 1); err != nil {
		return nil, err
	}
	if err := syscall.AttachLsf(fd, portFilter(port)); err != nil {
		return nil, err
	}
	at := &syscall.SockaddrLinklayer{Protocol: swapped(syscall.ETH_P_ALL), Ifindex: lo.Index}
	if err := syscall.Bind(fd, at); err != nil {
		return nil, err
	}
	c := &capture{fd: fd}
	c.statistics() // reading resets them
	return c, nil
}

// portFilter accepts the headers of outgoing TCP segments from and to the port.
func portFilter(port uint16) []syscall.SockFilter {
	const drop, accept = 11, 12
	load := func(how, at int) syscall.SockFilter { return *syscall.LsfStmt(syscall.BPF_LD|how, at) }
	jump := func(at, value, yes, no int) syscall.SockFilter {
		return *syscall.LsfJump(syscall.BPF_JMP|syscall.BPF_JEQ|syscall.BPF_K, value, yes-at-1, no-at-1)
	}
	return []syscall.SockFilter{
		load(syscall.BPF_B|syscall.BPF_ABS, packetType),
		jump(1, packetOutgoing, 2, drop),
		load(syscall.BPF_H|syscall.BPF_ABS, ethernet-2), // EtherType
		jump(3, syscall.ETH_P_IP, 4, drop),
		load(syscall.BPF_B|syscall.BPF_ABS, ethernet+9), // protocol
		jump(5, syscall.IPPROTO_TCP, 6, drop),
		*syscall.LsfStmt(syscall.BPF_LDX|syscall.BPF_B|syscall.BPF_MSH, ethernet), // X: length of the IP header
		load(syscall.BPF_H|syscall.BPF_IND, ethernet),                             // source port
		jump(8, int(port), accept, 9),
		load(syscall.BPF_H|syscall.BPF_IND, ethernet+2), // destination port
		jump(10, int(port), accept, drop),
		*syscall.LsfStmt(syscall.BPF_RET|syscall.BPF_K, 0),
		*syscall.LsfStmt(syscall.BPF_RET|syscall.BPF_K, snapBytes),
	}
}

func swapped(value uint16) uint16 { return value<<8 | value>>8 }

// drain passes on all packets in the socket's buffer.
func (c *capture) drain(use func(packet)) {
	for {
		for i := range c.heads {
			c.vectors[i] = syscall.Iovec{Base: &c.data[i][0], Len: snapBytes}
			c.heads[i].header = syscall.Msghdr{Iov: &c.vectors[i], Iovlen: 1, Control: &c.control[i][0], Controllen: controlBytes}
		}
		n, _, errno := syscall.Syscall6(syscall.SYS_RECVMMSG, uintptr(c.fd), uintptr(unsafe.Pointer(&c.heads[0])), batch, syscall.MSG_DONTWAIT, 0, 0)
		if errno == syscall.EAGAIN {
			return
		}
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			fail(errno)
		}
		for i := range int(n) {
			head := &c.heads[i]
			at := timestamp(c.control[i][:head.header.Controllen])
			if one, ok := parsePacket(c.data[i][:head.length]); ok {
				one.at = at
				use(one)
			}
		}
	}
}

// timestamp reads the struct timespec of SCM_TIMESTAMPNS.
func timestamp(control []byte) int64 {
	messages, err := syscall.ParseSocketControlMessage(control)
	fail(err)
	for _, message := range messages {
		if message.Header.Level == syscall.SOL_SOCKET && message.Header.Type == soTimestampNs {
			seconds := binary.NativeEndian.Uint64(message.Data)
			return int64(seconds)*1e9 + int64(binary.NativeEndian.Uint64(message.Data[8:]))
		}
	}
	fail(fmt.Errorf("the kernel delivered a packet without a timestamp"))
	return 0
}

func parsePacket(frame []byte) (packet, bool) {
	if len(frame) < ethernet+20 {
		return packet{}, false
	}
	ip := frame[ethernet:]
	ipBytes := int(ip[0]&0x0f) * 4
	if len(ip) < ipBytes+20 {
		return packet{}, false
	}
	tcp := ip[ipBytes:]
	flags := tcp[13]
	return packet{
		src:     binary.BigEndian.Uint16(tcp),
		dst:     binary.BigEndian.Uint16(tcp[2:]),
		payload: int(binary.BigEndian.Uint16(ip[2:])) - ipBytes - int(tcp[12]>>4)*4,
		syn:     flags&0x02 != 0,
		end:     flags&0x05 != 0,
	}, true
}

// statistics returns the packets that passed the filter since the last call, and how many of them the kernel dropped.
func (c *capture) statistics() (packets, drops uint32) {
	var values [2]uint32
	size := uint32(unsafe.Sizeof(values))
	_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, uintptr(c.fd), solPacket, packetStatistics,
		uintptr(unsafe.Pointer(&values)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		fail(errno)
	}
	return values[0], values[1]
}
