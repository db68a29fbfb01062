package iwarp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
)

// options are those of a provider that dials from the first host to the second.
func (n *network) options() iwarp.Options {
	return iwarp.Options{
		Dial: func(ctx context.Context, addr string) (c net.Conn, err error) {
			err = n.hosts[0].do(func() (err error) {
				var d net.Dialer
				c, err = d.DialContext(ctx, "tcp", addr)
				return err
			})
			return c, err
		},
		Listen: func(ctx context.Context, addr string) (l net.Listener, err error) {
			if addr == "" {
				addr = at(1, false, "0")
			}
			err = n.hosts[1].do(func() (err error) {
				var lc net.ListenConfig
				l, err = lc.Listen(ctx, "tcp", addr)
				return err
			})
			return l, err
		},
	}
}

// TestConformanceBetweenHosts runs the suite of all providers between two hosts.
func TestConformanceBetweenHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("short: TestConformance runs the suite within one host")
	}
	p := iwarp.New(newNetwork(t).options())
	rdmatest.Run(t, rdmatest.Factory{Provider: p, Device: "tcp", Loose: true, Eager: true})
}

// TestBackOffBetweenHosts has a host break the rules: it waits before it is listened to, and longer each time.
func TestBackOffBetweenHosts(t *testing.T) {
	opts := newNetwork(t).options()
	ad := must(iwarp.New(opts).Open(soon(t), "tcp", &rdma.Config{}))(t)
	defer ad.Close()
	dom := must(ad.NewDomain())(t)
	l := must(dom.Listen(soon(t), ""))(t)
	accepted := make(chan error, 1)
	go func() {
		q, err := l.Accept(soon(t), func([]byte) ([]byte, error) { return nil, nil })
		if err == nil {
			err = q.Close()
		}
		accepted <- err
	}()
	began, least := time.Now(), time.Duration(0)
	for i, wait := range []time.Duration{0, 100, 200, 400, 800} {
		c := must(opts.Dial(soon(t), l.Addr()))(t)
		ok(t, c.SetDeadline(time.Now().Add(time.Minute)))
		_ = must(c.Write([]byte("GET / HTTP/1.1\r\n\r\n")))(t)
		if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("it was not cut off")
		}
		_ = c.Close()
		least += wait * time.Millisecond // after the one before was blamed, which was before it saw the end
		if took := time.Since(began); took < least {
			t.Errorf("attempt %d was cut off after %v, want %v at least", i, took, least)
		}
	}
	q := must(dom.Dial(soon(t), l.Addr(), nil))(t) // after 1.6 s
	ok(t, <-accepted)
	ok(t, q.Close())
}
