//go:build !lab && (amd64 || arm64)

package verbs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/exchange"
)

// FuzzFrame reads what a peer may send: an error or a message that is written as it was read.
func FuzzFrame(f *testing.F) {
	for _, m := range []exchange.MessageMember{
		&exchange.Setup{Magic: magic, Link: 3, Mtu: 5, Hello: []byte("hello")}, &exchange.Refusal{Text: "no"}, &exchange.Ready{},
		&exchange.Ask{ID: 1, Key: 2, Epoch: 3}, &exchange.Answer{ID: 1, Bytes: 64, Rights: 7}, &exchange.Ended{Key: 1}, &exchange.Forgot{Key: 1}, &exchange.Failed{Text: "why"},
	} {
		b, err := frame(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := readFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		again, err := frame(m)
		if err != nil || !bytes.Equal(again, b[:len(again)]) {
			t.Errorf("read %+v from % x, and wrote % x, %v", m, b, again, err)
		}
	})
}

// TestStrangers has peers that are none come to a listener: none of them holds up who is one, and the listener's program is told.
func TestStrangers(t *testing.T) {
	p := fake(t)
	a, err := p.Open(t.Context(), "", &rdma.Config{Depth: 8, Credits: 32, HandshakeTimeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	d, err := a.NewDomain()
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.Listen(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	told := map[string]bool{}
	l.(rdma.Telling).Tell(func(_ string, err error) {
		mu.Lock()
		defer mu.Unlock()
		told[err.Error()] = true
	})
	setup := func(change func(*exchange.Setup)) []byte {
		s := &exchange.Setup{Magic: magic, Link: uint8(kindRoCEv2), Mtu: 5, Qpn: 1, GID: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}, Hello: []byte("hello")}
		change(s)
		b, err := frame(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	ask, _ := frame(&exchange.Ask{})
	for name, c := range map[string]struct {
		says  []byte
		hears string // in the refusal; empty: it is only cut off, or waits
	}{
		"silence":         {nil, ""},
		"another program": {[]byte("GET / HTTP/1.1\r\n\r\n"), "bytes"},
		"no bytes":        {make([]byte, 4), "bytes"},
		"too many":        {binary.LittleEndian.AppendUint32(nil, 1<<31), "bytes"},
		"nonsense":        {[]byte{2, 0, 0, 0, 99, 0}, "protocol"},
		"a question":      {ask, "began with"},
		"no magic":        {setup(func(s *exchange.Setup) { s.Magic[0] = 'X' }), "no program with this package"},
		"a later version": {setup(func(s *exchange.Setup) { s.Magic[3] = 9 }), "version 9"},
		"InfiniBand":      {setup(func(s *exchange.Setup) { s.Link = uint8(kindInfiniBand) }), "networks differ"},
		"no MTU":          {setup(func(s *exchange.Setup) { s.Mtu = 0 }), "MTU 0"},
		"no queue pair":   {setup(func(s *exchange.Setup) { s.Qpn = 1 << 24 }), "queue pair"},
	} {
		conn, err := net.Dial("tcp", l.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write(c.says); err != nil {
			t.Fatal(err)
		}
		if c.hears == "" {
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		m, err := readFrame(conn)
		r, ok := m.(*exchange.Refusal)
		if err != nil || !ok || !strings.Contains(r.Text, c.hears) {
			t.Errorf("%s: heard %+v, %v; want a refusal that says %q", name, m, err, c.hears)
		}
		if _, err := conn.Read(make([]byte, 1)); err != io.EOF && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: the connection is still there: %v", name, err)
		}
	}
	accepted := make(chan error, 1)
	go func() {
		_, err := l.Accept(t.Context(), func([]byte) ([]byte, error) { return []byte("welcome"), nil })
		accepted <- err
	}()
	if _, err := d.Dial(t.Context(), l.Addr(), []byte("hello")); err != nil {
		t.Errorf("a peer that is one: %v", err)
	}
	if err := <-accepted; err != nil {
		t.Error(err)
	}
	mu.Lock()
	if len(told) < 8 {
		t.Errorf("the program was told %v", told)
	}
	mu.Unlock()
}

// TestLiar has a peer that connects as it should, and then says what it must not: its connection fails, and nothing else.
func TestLiar(t *testing.T) {
	p := fake(t)
	x := connect(t, p)
	q := x.a.(*queue)
	for name, b := range map[string][]byte{
		"a second set-up": framed(frame(&exchange.Setup{Magic: magic, Mtu: 5, Hello: []byte("again")})),
		"nonsense":        {1, 0, 0, 0, 77},
		"a large message": {0xff, 0xff, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			x := connect(t, p)
			victim, liar := x.a.(*queue), x.b.(*queue)
			if _, err := liar.ctl.conn.Write(b); err != nil {
				t.Fatal(err)
			}
			if err := victim.PostReceive(nil); err != nil {
				t.Fatal(err)
			}
			end := time.Now().Add(20 * time.Second)
			for victim.failed.Load() == nil && time.Now().Before(end) {
				time.Sleep(time.Millisecond)
			}
			if c := victim.failed.Load(); c == nil || c.status != rdma.StatusPeerLost {
				t.Errorf("the queue has failed with %+v, want its peer lost", c)
			}
		})
	}
	// Answers that nobody asked for, and news of keys that are none, do no harm.
	for _, m := range []exchange.MessageMember{
		&exchange.Answer{ID: 4711, Bytes: 1 << 40, Rights: 7}, &exchange.Ended{Key: 1, Epoch: 2}, &exchange.Forgot{Key: 3, Epoch: 4},
	} {
		x.b.(*queue).ctl.send(m, false)
	}
	if err := q.Prepare(context.Background(), x.wrs[0].Key, x.wrs[0].Epoch); err != nil {
		t.Error(err)
	}
	x.run(t, 8)
}

func framed[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
