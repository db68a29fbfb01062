//go:build lab && (amd64 || arm64)

package verbs

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// underTraffic has two ends of one host use each other's memory, does something to the device below them after a while, and gives
// what each end's operations ended with. Both must end, with nothing left in flight.
func underTraffic(t *testing.T, harm func()) [2]error {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var doms [2]*rdma.Domain
	for i := range doms {
		dev := must(rdma.Open(ctx, rdma.Config{Provider: standard, Device: "verbs/rxe9", Logger: slog.New(slog.DiscardHandler),
			Observer: func(e rdma.Event) {
				if e.Kind == rdma.EventDevice {
					t.Log(i, e.Err)
				}
			}}))(t)
		defer func() {
			start := time.Now()
			if err := dev.Close(); err != nil {
				t.Errorf("close of the device %d: %v", i, err)
			}
			t.Log("closed in", time.Since(start))
		}()
		doms[i] = must(dev.Domain())(t)
	}
	ln := must(doms[0].Listen(ctx, ""))(t)
	type ended struct {
		i   int
		err error
	}
	ends := make(chan ended, 2)
	var conns [2]*rdma.Conn
	accepted := make(chan error, 1)
	go func() {
		var err error
		conns[0], err = ln.Accept(ctx)
		accepted <- err
	}()
	conns[1] = must(doms[1].Dial(ctx, ln.Addr()))(t)
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	for i := range conns {
		go func() { ends <- ended{i, useUntilEnd(ctx, doms[i], conns[i])} }()
	}
	time.Sleep(500 * time.Millisecond)
	harm()
	var errs [2]error
	for range 2 {
		e := <-ends
		errs[e.i] = e.err
		t.Logf("the end %d: %v", e.i, e.err)
		if e.err == nil || errors.Is(e.err, context.DeadlineExceeded) {
			t.Errorf("the end %d ended with %v", e.i, e.err)
		}
	}
	for i, c := range conns {
		if s := c.Stats(); s.InFlight != 0 || s.Violations != 0 {
			t.Errorf("the witness of the end %d saw %+v", i, s)
		}
	}
	return errs
}

// ownDevice makes a device of the test's own, so that the others of the guest stay as they are.
func ownDevice(t *testing.T) {
	t.Helper()
	tool(t, "ip link add bw9 type dummy")
	t.Cleanup(func() { tool(t, "ip link delete bw9") }) // and the device on it
	tool(t, "ip link set dev bw9 up")
	tool(t, "ip addr add 10.98.0.1/24 dev bw9")
	tool(t, "rdma link add rxe9 type rxe netdev bw9")
	usable(t, "rxe9")
}

// usable waits until a device is active, and has addresses.
func usable(t *testing.T, name string) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		a, err := standard.Open(t.Context(), name, nil)
		if err == nil {
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			return
		}
		if time.Now().After(limit) {
			t.Fatal(err)
		}
	}
}

// TestLinkDown takes the network interface below the device down in the midst of traffic: what is outstanding ends, and says that the
// port is down. When it is up again, there are connections again.
func TestLinkDown(t *testing.T) {
	ownDevice(t)
	errs := underTraffic(t, func() { tool(t, "ip link set dev bw9 down") })
	tool(t, "ip link set dev bw9 up")
	for i, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "is down") {
			t.Errorf("the end %d does not say that the port is down: %v", i, err)
		}
	}
	usable(t, "rxe9")
	underTraffic(t, func() { tool(t, "ip link set dev bw9 down") })
	tool(t, "ip link set dev bw9 up")
	usable(t, "rxe9")
}

// TestRemoved removes the device in the midst of traffic: what is outstanding ends, and says so. The kernel waits until both ends have
// closed the device.
func TestRemoved(t *testing.T) {
	ownDevice(t)
	deleted := make(chan time.Duration, 1)
	errs := underTraffic(t, func() {
		go func() {
			start := time.Now()
			out, err := exec.Command("rdma", "link", "delete", "rxe9").CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			deleted <- time.Since(start)
		}()
	})
	for i, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "is being removed") {
			t.Errorf("the end %d does not say that the device is being removed: %v", i, err)
		}
	}
	t.Log("deleted in", <-deleted)
	tool(t, "rdma link add rxe9 type rxe netdev bw9")
	usable(t, "rxe9")
}
