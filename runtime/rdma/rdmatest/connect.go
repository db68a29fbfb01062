package rdmatest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var connectChecks = []check{
	{"provider", checkProvider},
	{"hello", checkHello},
	{"refuse", checkRefuse},
	{"nobody-listens", checkNobody},
	{"connecting-ends", checkConnectingEnds},
}

// checkProvider looks at names and limits.
func checkProvider(t *testing.T, f *Factory) {
	if n := f.Provider.Name(); n == "" || strings.ContainsAny(n, " \t\n/") {
		t.Errorf("the provider is called %q, which is not one word", n)
	}
	devices, err := f.Provider.Devices(ctx(t))
	must(t, err)
	found := f.Device == "" && len(devices) > 0
	for _, d := range devices {
		found = found || d.Name == f.Device
		if d.Name == "" || d.Transport == "" || d.State == "" {
			t.Errorf("device %+v lacks a name, a transport or a state", d)
		}
	}
	if !found {
		t.Errorf("the device %q is not among %+v", f.Device, devices)
	}
	if _, err := f.Provider.Open(ctx(t), "no such device", config()); err == nil {
		t.Error("a device that does not exist could be opened")
	}
	a := newSide(t, f, config(), "a")
	l := a.ad.Limits()
	if l.Depth < 1 || l.Depth > config().Depth || l.Segments < 1 || l.Segments > rdma.MaxSegments ||
		l.MaxMessage < 1 || l.MaxMessage > config().MaxMessage || l.MaxTransfer < 1 {
		t.Errorf("limits %+v with the configuration %+v", l, config())
	}
}

// twoProcesses is a provider for tests whose sides are in two processes of one user. Those of others are in this one.
type twoProcesses interface {
	PeerOf(q rdma.Queue) (pid int)
}

// checkHello exchanges the greetings, and wants copies of them.
func checkHello(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	for _, s := range []*side{a, b} {
		want := map[string]string{"a": "hello of b", "b": "hello of a"}[s.name]
		if got := string(s.q.Hello()); got != want {
			t.Errorf("%s was greeted %q, want %q", s.name, got, want)
		}
		if s.q.Peer() == "" {
			t.Errorf("%s does not know its peer", s.name)
		}
		if x, ok := s.q.(rdma.Identified); ok {
			me := rdma.Process{PID: os.Getpid(), UID: os.Getuid(), GID: os.Getgid()}
			if two, ok := f.Provider.(twoProcesses); ok {
				me.PID = two.PeerOf(s.q)
			}
			if p := x.Process(); p != nil && *p != me {
				t.Errorf("%s takes its peer for %+v, and it is %+v", s.name, *p, me)
			}
		}
		h := s.q.Hello()
		h[0] = 'X'
		if string(s.q.Hello()) != want {
			t.Errorf("%s: Hello gave its own memory away", s.name)
		}
	}
}

// checkRefuse refuses a peer, which must be told why, and then takes another.
func checkRefuse(t *testing.T, f *Factory) {
	a, b := newSide(t, f, config(), "a"), newSide(t, f, config(), "b")
	l, err := b.dom.Listen(ctx(t), f.address(t))
	must(t, err)
	accepted := make(chan error, 1)
	go func() {
		q, err := l.Accept(ctx(t), func(hello []byte) ([]byte, error) {
			if string(hello) == "stranger" {
				return nil, errors.New("strangers are not welcome")
			}
			return []byte("welcome"), nil
		})
		if err == nil && string(q.Hello()) != "friend" {
			err = errors.New("accepted " + string(q.Hello()))
		}
		accepted <- err
	}()
	_, err = a.dom.Dial(ctx(t), l.Addr(), []byte("stranger"))
	if err == nil || !strings.Contains(err.Error(), "strangers are not welcome") {
		t.Errorf("the refused peer was told %v", err)
	}
	q, err := a.dom.Dial(ctx(t), l.Addr(), []byte("friend"))
	must(t, err)
	must(t, <-accepted)
	if string(q.Hello()) != "welcome" {
		t.Errorf("greeted with %q", q.Hello())
	}
	must(t, l.Close())
}

// checkNobody dials where nobody listens, or not any more.
func checkNobody(t *testing.T, f *Factory) {
	a, b := newSide(t, f, config(), "a"), newSide(t, f, config(), "b")
	l, err := b.dom.Listen(ctx(t), f.address(t))
	must(t, err)
	addr := l.Addr()
	must(t, l.Close())
	short, cancel := context.WithTimeout(context.Background(), patience/3)
	defer cancel()
	if _, err := a.dom.Dial(short, addr, nil); err == nil {
		t.Error("dialed an address where nobody listens any more")
	}
}

// checkConnectingEnds wants Accept and Dial to end with their context, and with the listener.
func checkConnectingEnds(t *testing.T, f *Factory) {
	a, b := newSide(t, f, config(), "a"), newSide(t, f, config(), "b")
	l, err := b.dom.Listen(ctx(t), f.address(t))
	must(t, err)
	short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	answer := func([]byte) ([]byte, error) { return nil, nil }
	if _, err := l.Accept(short, answer); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Accept ended with %v, want its deadline", err)
	}
	short, cancel = context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := a.dom.Dial(short, l.Addr(), nil); err == nil {
		t.Error("Dial succeeded, and nobody accepted")
	}
	ended := make(chan error, 1)
	go func() {
		_, err := l.Accept(context.Background(), answer)
		ended <- err
	}()
	time.Sleep(5 * time.Millisecond)
	must(t, l.Close())
	select {
	case err := <-ended:
		if err == nil {
			t.Error("Accept of a closed listener succeeded")
		}
	case <-time.After(patience):
		t.Fatal("Accept did not end with its listener")
	}
	if _, err := l.Accept(ctx(t), answer); err == nil {
		t.Error("a closed listener accepted")
	}
}
