package iwarp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

func init() {
	roles["busy here"] = func(e *errand) error { return e.program(listening, (*program).untilLost) }
	roles["busy"] = func(e *errand) error { return e.program(dialling, (*program).untilLost) }
	roles["idle here"] = func(e *errand) error { return e.program(listening, (*program).waitUntilLost) }
	roles["idle"] = func(e *errand) error { return e.program(dialling, (*program).waitUntilLost) }
}

// fair is weather of each kind, and what is to be seen of it.
var fair = map[string]struct {
	weather
	netem string
	seen  func(s sight) int
}{
	"loss":       {weather{loss: 0.01}, "loss 1%", func(s sight) int { return s.lost }},
	"delay":      {weather{delay: 5 * time.Millisecond, jitter: 3 * time.Millisecond}, "delay 5ms 3ms", nil},
	"reordering": {weather{reorder: 0.05}, "delay 1ms reorder 95%", func(s sight) int { return s.late }},
	"duplicates": {weather{duplicate: 0.05}, "duplicate 5%", func(s sight) int { return s.doubled }},
	"corruption": {weather{corrupt: 0.01}, "corrupt 1%", func(s sight) int { return s.spoilt }},
	"all of it":  {weather{loss: 0.01, delay: 5 * time.Millisecond, jitter: 3 * time.Millisecond, reorder: 0.02, duplicate: 0.01, corrupt: 0.002}, "loss 1% delay 5ms 3ms reorder 98% duplicate 1% corrupt 0.2%", func(s sight) int { return s.lost }},
}

// TestWeather exchanges operations of all kinds, with checks of all contents, over a wire that loses, delays, overtakes,
// doubles and spoils packets: all of them end, and well. The wire is the test's; see [TestNetem] for the kernel's.
func TestWeather(t *testing.T) {
	needNetworks(t)
	for name, w := range fair {
		t.Run(name, func(t *testing.T) {
			n := newWired(t)
			n.wire.set(w.weather)
			n.exchange(t)
			for end := range 2 {
				s := n.wire.look(end)
				t.Logf("from host %d: %+v", end, s)
				if w.seen != nil && w.seen(s) == 0 {
					t.Errorf("no packet of host %d came to harm", end)
				}
			}
		})
	}
}

// TestNetem does the same with the kernel's weather, tc-netem(8), on a veth pair. Kernels may be built without, and nothing
// that can be installed changes that, so it is skipped there under CI too; the lab has kernels with it.
func TestNetem(t *testing.T) {
	err := newNetwork(t).netem("delay 1ms")
	if err != nil && strings.Contains(err.Error(), "qdisc kind is unknown") && os.Getenv("BAREWIRE_LAB") == "" {
		t.Skip("this kernel has no sch_netem; TestWeather does the same with a wire of its own, and make lab has kernels with it")
	}
	for name, w := range fair {
		t.Run(name, func(t *testing.T) {
			n := newNetwork(t)
			ok(t, n.netem(w.netem))
			n.exchange(t)
		})
	}
}

// netem sets the weather of both directions.
func (n *network) netem(args string) error {
	var errs []error
	for _, h := range n.hosts {
		errs = append(errs, h.run("tc", strings.Fields("qdisc add dev "+device+" root netem "+args)...))
	}
	return errors.Join(errs...)
}

// exchange has a process on each host exchange operations.
func (n *network) exchange(t testing.TB) {
	t.Helper()
	e := errand{Role: "exchange here", Ops: 1500, Seed: 1, Addr: at(0, false, "0")}
	if testing.Short() {
		e.Ops = 500
	}
	here := begin(t, n.hosts[0], e)
	e.Role, e.Seed, e.Addr = "exchange", 2, here.hear("at ")
	there := begin(t, n.hosts[1], e)
	there.ends(4 * time.Minute)
	here.ends(time.Minute)
}

// TestCheckedByCRC has a wire change packets in a way that TCP cannot see. The checksums of iWARP do: no operation
// that ends well is wrong, the connection fails on both sides, and nothing is left of it.
func TestCheckedByCRC(t *testing.T) {
	needNetworks(t)
	spoil := weather{swap: 0.02}
	t.Run("contents", func(t *testing.T) {
		for try := 1; !spoilsContents(t, spoil); try++ {
			if try == 3 {
				t.Fatal("three times both sides waited, and no checksum was wrong")
			}
		}
	})
	t.Run("ends", func(t *testing.T) {
		n := newWired(t)
		here := begin(t, n.hosts[0], errand{Role: "busy here", Bytes: 1 << 20, Addr: at(0, false, "0")})
		there := begin(t, n.hosts[1], errand{Role: "busy", Bytes: 1 << 20, Addr: here.hear("at ")})
		n.spoil(here, there, spoil)
		for _, p := range []*process{here, there} {
			if said := p.hear("lost "); !strings.Contains(said, "checksum") {
				t.Errorf("%s: the connection was lost: %s", p.role, said)
			}
			p.ends(time.Minute)
		}
	})
}

// spoilsContents reports whether a checksum ended the exchange on both sides. It is false where both wait with nothing
// unread: a frame's length was hit, and is greater now than all that the other side sends before it waits, too. That
// is no checksum's to find but OpTimeout's, which is above the queues that these processes use.
func spoilsContents(t *testing.T, spoil weather) bool {
	t.Helper()
	n := newWired(t)
	here := begin(t, n.hosts[0], errand{Role: "exchange here", Ops: 1 << 30, Seed: 1, Addr: at(0, false, "0")})
	there := begin(t, n.hosts[1], errand{Role: "exchange", Ops: 1 << 30, Seed: 2, Addr: here.hear("at ")})
	n.spoil(here, there, spoil)
	stalled := make(chan bool, 1)
	watch := time.AfterFunc(20*time.Second, func() {
		unread := here.unread() + there.unread()
		stalled <- unread == 0
		if unread == 0 {
			here.kill()
			there.kill()
		}
	})
	said := map[*process]string{here: here.fails(time.Minute), there: there.fails(time.Minute)}
	if !watch.Stop() && <-stalled {
		t.Log("both sides waited, with nothing unread: once more")
		return false
	}
	for p, said := range said {
		if !strings.Contains(said, "checksum") {
			t.Errorf("%s: what went wrong is %s", p.role, said)
		}
	}
	return true
}

// spoil changes the weather when two processes are at work.
func (n *network) spoil(here, there *process, to weather) {
	here.hear("ready")
	there.hear("ready")
	n.wire.set(to)
}

// TestOutage takes the cable out for a moment, three times: nothing fails, and nothing is lost. More often would be a test of
// TCP, which waits longer each time.
func TestOutage(t *testing.T) {
	n := newWired(t)
	n.wire.set(weather{delay: 4 * time.Millisecond})
	stop := make(chan struct{})
	outages := make(chan int)
	go func() {
		for i := range 6 {
			select {
			case <-stop:
				outages <- (i + 1) / 2
				return
			case <-time.After(100 * time.Millisecond):
			}
			if i%2 == 0 {
				n.wire.cut(0, 1)
			} else {
				n.wire.cut()
			}
		}
		<-stop
		outages <- 3
	}()
	n.exchange(t)
	close(stop)
	if n := <-outages; n == 0 {
		t.Error("it was done before the first outage")
	}
}

// TestCableOut takes the cable out while both sides are at work, in two ways: the device goes down, or packets vanish
// without a word. Everything ends on both sides, and it is not TCP that ends it, which would take half a minute.
func TestCableOut(t *testing.T) {
	needNetworks(t)
	const most = 2 * time.Second // for a few operations of 128 KiB, also where the wire and both sides share a processor with others
	for name, c := range map[string]struct {
		network func(testing.TB) *network
		cut     func(t *testing.T, n *network)
	}{
		"device down":  {newNetwork, func(t *testing.T, n *network) { n.hosts[1].ip(t, "link set "+device+" down") }},
		"packets lost": {newWired, func(t *testing.T, n *network) { n.wire.cut(0, 1) }},
		"lost one way": {newWired, func(t *testing.T, n *network) { n.wire.cut(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			n := c.network(t)
			here := begin(t, n.hosts[0], errand{Role: "busy here", Bytes: 256 << 10, OpTimeout: most, Addr: at(0, false, "0")})
			there := begin(t, n.hosts[1], errand{Role: "busy", Bytes: 256 << 10, OpTimeout: most, Addr: here.hear("at ")})
			n.lose(t, here, there, func() { c.cut(t, n) }, most/4, 10*most)
		})
	}
}

// TestCableOutUnlimited does so where operations may take for ever, and with a side that waits and sends nothing: it is
// TCP that gives up, after 30 s (TCP_USER_TIMEOUT) or when its probes are not answered (SO_KEEPALIVE).
func TestCableOutUnlimited(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it waits for half a minute")
	}
	needNetworks(t)
	for name, dialler := range map[string]string{"busy": "busy", "idle": "idle"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newWired(t)
			here := begin(t, n.hosts[0], errand{Role: "idle here", Bytes: 4 << 20, OpTimeout: -1, Addr: at(0, false, "0")})
			there := begin(t, n.hosts[1], errand{Role: dialler, Bytes: 4 << 20, OpTimeout: -1, Addr: here.hear("at ")})
			n.lose(t, here, there, func() { n.wire.cut(0, 1) }, 20*time.Second, 3*time.Minute)
		})
	}
}

// lose cuts the connection of two processes that are at work, and wants both to lose it in time.
func (n *network) lose(t *testing.T, here, there *process, cut func(), least, most time.Duration) {
	t.Helper()
	for _, p := range []*process{here, there} {
		p.hear("ready")
	}
	time.Sleep(50 * time.Millisecond)
	cut()
	began := time.Now()
	for _, p := range []*process{here, there} {
		text := p.hear("lost ")
		took := time.Since(began)
		t.Logf("%s, after %v: %s", p.role, took.Round(10*time.Millisecond), text)
		if took < least || took > most {
			t.Errorf("%s lost its peer after %v, want %v to %v", p.role, took, least, most)
		}
		least = 0 // of the second what counts is that it is not later
	}
	here.ends(20 * time.Second)
	there.ends(20 * time.Second)
}

// untilLost does operations of all kinds until one fails. Then all of them must have ended, and the connection with them.
func (p *program) untilLost() error {
	n := p.local.Len()
	for round := 0; ; round++ {
		var ops []func(context.Context) error
		var errs []error
		add := func(op interface{ Wait(context.Context) error }, err error) {
			if errs = append(errs, err); err == nil {
				ops = append(ops, op.Wait)
			}
		}
		add(rdma.Read(p.conn, p.local.Span(0, n/2), p.theirs.Slice(0, n/2)))
		add(rdma.Write(p.conn, p.theirs.Slice(n/2, n/2), p.local.Span(n/2, n/2)))
		if op, err := rdma.FetchAdd(p.conn, sample.TickSeqOf(p.theirs, 0), 1); err != nil {
			errs = append(errs, err)
		} else {
			ops = append(ops, func(ctx context.Context) error { _, err := op.Wait(ctx); return err })
		}
		add(rdma.WriteNotify(p.conn, p.theirs.Slice(n/2, 1), p.local.Span(n/2, 1), 1))
		if err := errors.Join(errs...); err == nil {
			_, _, err = p.conn.TryNotification() // so that there are credits
			errs = append(errs, err)
		}
		errs = append(errs, p.conn.Flush(p.ctx))
		for _, wait := range ops {
			ctx, cancel := context.WithTimeout(p.ctx, time.Second) // all have ended when the connection has
			if p.conn.Err() == nil {
				cancel()
				ctx, cancel = context.WithTimeout(p.ctx, time.Minute)
			}
			err := wait(ctx)
			cancel()
			if errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("an operation does not end: %w", err)
			}
			errs = append(errs, err)
		}
		if round == 3 {
			say("ready")
		}
		for _, err := range errs {
			if err != nil && !errors.Is(err, rdma.ErrNoCredit) {
				return p.isLost(err)
			}
		}
	}
}

// waitUntilLost has nothing to do.
func (p *program) waitUntilLost() error {
	say("ready")
	for {
		if _, err := p.conn.NextNotification(p.ctx); err != nil {
			return p.isLost(err)
		}
	}
}

// isLost wants an error to be of the connection, which has failed, and tells.
func (p *program) isLost(err error) error {
	failed := p.conn.Err()
	if failed == nil {
		return fmt.Errorf("the connection goes on after: %w", err)
	}
	say("lost", strings.ReplaceAll(failed.Error(), "\n", " "))
	if _, err := rdma.Read(p.conn, p.local.Span(0, 1), p.theirs.Slice(0, 1)); err == nil {
		return errors.New("an operation was taken after the end")
	}
	return nil
}
