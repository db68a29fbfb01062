package iwarp_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

// TestSpinningProgramsAreHeard has two programs that never sleep keep all processors busy. The runtime's poller is looked
// at each 10 ms then: if messages waited for it, a message and its answer would take 20 ms, each time. Where others keep the
// processors busy, too, many take as long, and some do not.
func TestSpinningProgramsAreHeard(t *testing.T) {
	for procs, name := range map[int]string{1: "one processor", 2: "two processors"} {
		t.Run(name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
			a, b := spinning(ctx, t)
			echoed := make(chan error, 1)
			go func() {
				var err error
				for n := 0; err == nil; n++ {
					if err = takeNumber(ctx, b, n); err == nil {
						err = b.SendBytes(ctx, number(n))
					}
				}
				echoed <- err
			}()
			const trips, most = 5, 50 * time.Millisecond
			n, quick := 0, 0
			for began := time.Now(); quick < 50 && time.Since(began) < patience; {
				start := time.Now()
				for range trips {
					ok(t, a.SendBytes(ctx, number(n)))
					ok(t, takeNumber(ctx, a, n))
					n++
				}
				if time.Since(start) < most {
					quick++
				}
			}
			if quick == 0 {
				t.Errorf("of %d messages and answers no %d took less than %v", n, trips, most)
			}
			cancel()
			if err := <-echoed; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

func number(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

func takeNumber(ctx context.Context, c *rdma.Conn, want int) error {
	var b [8]byte
	n, err := c.Receive(ctx, b[:])
	if got := binary.LittleEndian.Uint64(b[:]); err == nil && (n != 8 || got != uint64(want)) {
		err = fmt.Errorf("%d bytes came, and the number %d, want %d", n, got, want)
	}
	return err
}

// spinning is a connection both of whose ends spin.
func spinning(ctx context.Context, t *testing.T) (a, b *rdma.Conn) {
	dev := must(rdma.Open(ctx, rdma.Config{Provider: iwarp.New(iwarp.Options{}), Mode: rdma.Busy}))(t)
	t.Cleanup(func() { ok(t, dev.Close()) })
	dom := must(dev.Domain())(t)
	l := must(dom.Listen(ctx, ""))(t)
	accepted := make(chan error, 1)
	go func() {
		var err error
		b, err = l.Accept(ctx)
		accepted <- err
	}()
	a = must(dom.Dial(ctx, l.Addr()))(t)
	ok(t, <-accepted)
	return a, b
}
