package iwarp

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// redialling has who dials try again so often, and soon.
func redialling(t *testing.T, n int) {
	often, first := redials, firstRedial
	redials, firstRedial = n, time.Millisecond
	t.Cleanup(func() { redials, firstRedial = often, first })
}

// choosy is a listener that ends the first connections without a word.
type choosy struct {
	net.Listener
	left atomic.Int32
	came atomic.Int32
}

func (c *choosy) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		c.came.Add(1)
		if err != nil || c.left.Add(-1) < 0 {
			return conn, err
		}
		_ = conn.Close()
	}
}

// choosyDomain listens, and ends the first n connections.
func choosyDomain(t *testing.T, n int) (*domain, *choosy, *listener) {
	t.Helper()
	c := &choosy{}
	c.left.Store(int32(n))
	d := openDomain(t, Options{Listen: func(ctx context.Context, addr string) (net.Listener, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		c.Listener = l
		return c, err
	}}, &rdma.Config{HandshakeTimeout: patience})
	return d, c, bare(t, d)
}

// TestDialsAgain dials who ends the first connections: it is dialled again, so often and no more, and not longer than the
// context allows.
func TestDialsAgain(t *testing.T) {
	redialling(t, 5)
	d, c, l := choosyDomain(t, 5)
	got := acceptOn(t, l, silence)
	dialled := dialOn(t, d, l.Addr(), "")
	(<-got).must(t)
	(<-dialled).must(t)
	if n := c.came.Load(); n != 6 {
		t.Errorf("dialled %d times, want 6", n)
	}

	d, c, l = choosyDomain(t, 1000)
	a := <-dialOn(t, d, l.Addr(), "")
	if !errors.Is(a.err, errSilent) || !strings.Contains(a.err.Error(), "dialled 6 times") {
		t.Errorf("dialled: %v", a.err)
	}
	if n := c.came.Load(); n != 6 {
		t.Errorf("dialled %d times, want 6", n)
	}

	redials, firstRedial = 1000, time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := d.Dial(ctx, l.Addr(), nil)
		ended <- err
	}()
	until(t, "it is dialled", func() bool { return c.came.Load() == 7 })
	cancel()
	if err := <-ended; err == nil {
		t.Error("dialled who takes nobody")
	}
}

// TestDialsAtOnce has more connections of one host dialled at once than there are places. All get in, when they are accepted.
func TestDialsAtOnce(t *testing.T) {
	redialling(t, 100000)
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: 5 * patience})
	l := bare(t, d)
	const n = burst*maxSourceGuests + 44
	var all []<-chan accepted
	for range n {
		all = append(all, dialOn(t, d, l.Addr(), ""))
	}
	until(t, "there are no places left", func() bool { g, _ := l.states(); return g == burst*maxSourceGuests })
	for range n {
		(<-acceptOn(t, l, silence)).must(t)
	}
	for _, c := range all {
		(<-c).must(t)
	}
}
