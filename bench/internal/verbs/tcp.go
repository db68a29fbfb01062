package verbs

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// What TCP does without us: package net's connections on the loopback interface, between
// two processes, used as well as one can by hand.

func init() {
	peers["tcp, echo"] = serveTCP(echoTCP)
	peers["tcp, echo by hop"] = serveTCP(echoByHop)
	peers["tcp, sink"] = serveTCP(sinkTCP)
	peers["tcp, source"] = serveTCP(sourceTCP)
	peers["tcp, frames"] = serveTCP(framesTCP)
}

// loopback is where peers listen: any port.
const loopback = "127.0.0.1:0"

// serveTCP makes a peer of what it does with its one connection.
func serveTCP(serve func(net.Conn) error) func(func(string)) error {
	return func(ready func(string)) error {
		ln, err := net.Listen("tcp", loopback)
		if err != nil {
			return err
		}
		defer ln.Close()
		ready(ln.Addr().String())
		c, err := ln.Accept()
		if err != nil {
			return err
		}
		defer c.Close()
		_ = serve(c) // ends with an error: the other side is done
		return nil
	}
}

// dialTCP starts a peer and connects to it.
func dialTCP(l *Loop, peer string) (net.Conn, error) {
	addr, err := l.start(peer)
	if err != nil {
		return nil, err
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	l.onClose(c.Close)
	return c, c.SetDeadline(time.Now().Add(2 * time.Minute))
}

// packet64 is what goes there and back.
type packet64 [64]byte

// echoTCP answers where it reads.
func echoTCP(c net.Conn) error {
	var b packet64
	for {
		if _, err := io.ReadFull(c, b[:]); err != nil {
			return err
		}
		if _, err := c.Write(b[:]); err != nil {
			return err
		}
	}
}

// hop reads packets on a goroutine, as anything that serves several purposes on a connection
// has to, and hands them to whoever takes them from the channel.
func hop(c net.Conn) <-chan packet64 {
	packets := make(chan packet64, 16)
	go func() {
		defer close(packets)
		var b packet64
		for {
			if _, err := io.ReadFull(c, b[:]); err != nil {
				return
			}
			packets <- b
		}
	}()
	return packets
}

// echoByHop answers from another goroutine than that which reads.
func echoByHop(c net.Conn) error {
	var b packet64
	for b = range hop(c) {
		if _, err := c.Write(b[:]); err != nil {
			return err
		}
	}
	return nil
}

// tcpPing sends a packet and reads it back.
func tcpPing(l *Loop) error {
	c, err := dialTCP(l, "tcp, echo")
	if err != nil {
		return err
	}
	l.Run = pings(c)
	return nil
}

// pings sends packets on a connection and reads each back.
func pings(c net.Conn) func(n int) error {
	b := make([]byte, 64)
	seq := uint64(0)
	return func(n int) error {
		for range n {
			seq++
			binary.LittleEndian.PutUint64(b, seq)
			if _, err := c.Write(b); err != nil {
				return err
			}
			if _, err := io.ReadFull(c, b); err != nil {
				return err
			}
			if err := same(b, seq); err != nil {
				return err
			}
		}
		return nil
	}
}

// tcpPingByHop has a goroutine that reads on this side, and on the other side if the peer has.
func tcpPingByHop(peer string) func(*Loop) error {
	return func(l *Loop) error {
		c, err := dialTCP(l, peer)
		if err != nil {
			return err
		}
		back := hop(c)
		b := make([]byte, 64)
		seq := uint64(0)
		l.Run = func(n int) error {
			for range n {
				seq++
				binary.LittleEndian.PutUint64(b, seq)
				if _, err := c.Write(b); err != nil {
					return err
				}
				got, ok := <-back
				if !ok {
					return errLost
				}
				if err := same(got[:], seq); err != nil {
					return err
				}
			}
			return nil
		}
		return nil
	}
}

// message is a MiB that was written: what was not is the system's one page of zeroes, which is in
// the nearest cache always.
func message() []byte {
	b := make([]byte, mib)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// sinkTCP takes messages of a MiB and answers each with a byte.
func sinkTCP(c net.Conn) error {
	b := make([]byte, mib)
	for {
		if _, err := io.ReadFull(c, b); err != nil {
			return err
		}
		if _, err := c.Write(b[:1]); err != nil {
			return err
		}
	}
}

// sourceTCP answers each byte with a message of a MiB.
func sourceTCP(c net.Conn) error {
	b := message()
	request := make([]byte, 1)
	for {
		if _, err := io.ReadFull(c, request); err != nil {
			return err
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
}

// tcpWrites sends messages of a MiB, so many before it waits until all are acknowledged.
func tcpWrites(some int) func(*Loop) error {
	return func(l *Loop) error {
		c, err := dialTCP(l, "tcp, sink")
		if err != nil {
			return err
		}
		b, acks := message(), make([]byte, some)
		l.Run = func(n int) error {
			for range n {
				for range some {
					if _, err := c.Write(b); err != nil {
						return err
					}
				}
				if _, err := io.ReadFull(c, acks); err != nil {
					return err
				}
			}
			return nil
		}
		return nil
	}
}

// tcpReads asks for messages of a MiB, so many before it waits until all are there.
func tcpReads(some int) func(*Loop) error {
	return func(l *Loop) error {
		c, err := dialTCP(l, "tcp, source")
		if err != nil {
			return err
		}
		b, requests := make([]byte, mib), make([]byte, some)
		l.Run = func(n int) error {
			for range n {
				if _, err := c.Write(requests); err != nil {
					return err
				}
				for range some {
					if _, err := io.ReadFull(c, b); err != nil {
						return err
					}
				}
			}
			return nil
		}
		return nil
	}
}

// framesTCP takes many packets and answers with a byte.
func framesTCP(c net.Conn) error {
	b := make([]byte, many*64)
	for {
		if _, err := io.ReadFull(c, b); err != nil {
			return err
		}
		for at := 0; at < len(b); at += 64 {
			if binary.LittleEndian.Uint64(b[at:]) != uint64(at) {
				return fmt.Errorf("packet %d is not in its place", at/64)
			}
		}
		if _, err := c.Write(b[:1]); err != nil {
			return err
		}
	}
}

// tcpFrames sends many packets by one call, and waits for one answer.
func tcpFrames(l *Loop) error {
	c, err := dialTCP(l, "tcp, frames")
	if err != nil {
		return err
	}
	b, ack := make([]byte, many*64), make([]byte, 1)
	l.Run = func(n int) error {
		for range n {
			for at := 0; at < len(b); at += 64 {
				binary.LittleEndian.PutUint64(b[at:], uint64(at))
			}
			if _, err := c.Write(b); err != nil {
				return err
			}
			if _, err := io.ReadFull(c, ack); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}
