//go:build lab && (amd64 || arm64)

package verbs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// How much is measured. A pass of ours and one of perftest's take turns, so that both see the same of whatever else the machine does.
const (
	perfPasses = 3
	perfPings  = 1000
	perfBulks  = 500
	bulkWords  = 64 << 10 / 8
)

// TestPerf measures writes of this package beside those of perftest, in one boot, on one device, between two processes each. It
// reports, and judges nothing: a guest's times say nothing about hardware, and little about each other on a busy machine.
func TestPerf(t *testing.T) {
	if addr := os.Getenv("BAREWIRE_PERF_PEER"); addr != "" {
		ok(t, peer(t.Context(), os.Getenv("BAREWIRE_PERF"), addr))
		return
	}
	var lat, bw [2][]float64 // ours, perftest's
	for range perfPasses {
		lat[0] = append(lat[0], withPeer(t, "pings", latency))
		bw[0] = append(bw[0], withPeer(t, "bulk", bandwidth))
		lat[1] = append(lat[1], perftest(t, "ib_write_lat", 8, perfPings, 4)) // t_typical: the median
		bw[1] = append(bw[1], perftest(t, "ib_write_bw", 8*bulkWords, perfBulks, 3))
	}
	tell(t, "latency of a write of 8 bytes, half a round trip, median of %d, µs: ours %s, ib_write_lat %s, proportion %.2f", perfPings, lat)
	tell(t, "bandwidth of writes of 64 KiB, %d of them, MiB/s: ours %s, ib_write_bw %s, proportion %.2f", perfBulks, bw)
}

// tell reports a figure of all passes.
func tell(t *testing.T, format string, n int, both [2][]float64) {
	fmt.Fprintf(t.Output(), "# "+format+"\n", n, passes(both[0]), passes(both[1]), middle(both[0])/middle(both[1]))
}

func passes(vs []float64) string {
	words := make([]string, len(vs))
	for i, v := range vs {
		words[i] = strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strings.Join(words, " ")
}

func middle(vs []float64) float64 { return slices.Sorted(slices.Values(vs))[len(vs)/2] }

// writer is a side of the exchange: a word that the peer writes to, one to write from, and memory for the bulk.
type writer struct {
	dev  *rdma.Device
	conn *rdma.Conn
	in   *barewire.Region[sample.Word, barewire.CPU, barewire.RemoteWrite]
	out  *barewire.Region[sample.Word, barewire.CPU, barewire.Local]
	rem  barewire.Remote[sample.Word, barewire.RemoteWrite]
}

// newWriter connects, as the listener where it is given whom to tell the address.
func newWriter(ctx context.Context, mode rdma.Mode, addr string, tell func(addr string) error) (w *writer, err error) {
	w = &writer{}
	if w.dev, err = rdma.Open(ctx, rdma.Config{Provider: standard, Mode: mode, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return w, err
	}
	dom, err := w.dev.Domain()
	if err != nil {
		return w, err
	}
	if tell == nil {
		w.conn, err = dom.Dial(ctx, addr)
	} else {
		var ln *rdma.Listener
		if ln, err = dom.Listen(ctx, addr); err == nil {
			if err = tell(ln.Addr()); err == nil {
				w.conn, err = ln.Accept(ctx)
			}
		}
	}
	if err != nil {
		return w, err
	}
	for _, make := range []func() error{
		func() error {
			r, err := barewire.New(sample.WordInCPU(), bulkWords)
			if err == nil {
				w.in, err = rdma.Register(dom, r, sample.WordRemoteWrite())
			}
			return err
		},
		func() error {
			r, err := barewire.New(sample.WordInCPU(), bulkWords)
			if err == nil {
				w.out, err = rdma.Register(dom, r, sample.WordLocal())
			}
			return err
		},
		func() error { return rdma.Offer(ctx, w.conn, "words", w.in) },
	} {
		if err := make(); err != nil {
			return w, err
		}
	}
	w.rem, err = rdma.Import(ctx, w.conn, "words", sample.WordRemoteWrite())
	return w, err
}

func (w *writer) close() error {
	var errs []error
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	if w.in != nil {
		errs = append(errs, w.in.Close())
	}
	if w.out != nil {
		errs = append(errs, w.out.Close())
	}
	if w.dev != nil {
		errs = append(errs, w.dev.Close())
	}
	return errors.Join(errs...)
}

// turn writes a number to the peer and waits for it to come back, or the other way round.
func (w *writer) turn(ctx context.Context, own barewire.Window[sample.Word, barewire.Local], in barewire.Window[sample.Word, barewire.RemoteWrite], v uint64, first bool) error {
	if !first {
		if err := w.spin(in, v); err != nil {
			return err
		}
	}
	sample.WordAt(own, 0).SetValue(v)
	op, err := rdma.Write(w.conn, w.rem.Slice(0, 1), w.out.Span(0, 1))
	if err != nil {
		return err
	}
	if first {
		if err := w.spin(in, v); err != nil {
			return err
		}
	}
	return op.Wait(ctx)
}

// spin looks at the memory, as ib_write_lat does, until the peer has written a number.
func (w *writer) spin(in barewire.Window[sample.Word, barewire.RemoteWrite], v uint64) error {
	for i := 1; sample.WordValueLoad(in, 0) != v; i++ {
		if i%(1<<12) == 0 {
			w.conn.Poll()
			if err := w.conn.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// pings has n numbers go there and come back, or, for who is not first, until the connection ends. It calls each after every one.
func (w *writer) pings(ctx context.Context, n int, first bool, each func()) error {
	return barewire.With(w.out, func(own barewire.Window[sample.Word, barewire.Local]) error {
		return barewire.With(w.in, func(in barewire.Window[sample.Word, barewire.RemoteWrite]) error {
			for i := range n {
				if err := w.turn(ctx, own, in, uint64(i+1), first); err != nil {
					return err
				}
				each()
			}
			return nil
		})
	})
}

// peer is the other process. It sends back what comes, or, as ib_write_bw does, sleeps until the other side has written all and goes.
func peer(ctx context.Context, what, addr string) error {
	mode := rdma.Busy
	if what == "bulk" {
		mode = rdma.ByEvent
	}
	w, err := newWriter(ctx, mode, addr, nil)
	if err == nil && what == "pings" {
		err = w.pings(ctx, perfPings, false, func() {})
	}
	if err == nil {
		_, err = w.conn.Receive(ctx, make([]byte, 64)) // nothing comes
	}
	if errors.Is(err, rdma.ErrPeerLost) {
		err = nil
	}
	return errors.Join(err, w.close())
}

// withPeer measures something between this process and another one.
func withPeer(t *testing.T, what string, measure func(context.Context, *writer) (float64, error)) float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	child := exec.Command("/proc/self/exe", "-test.run=^TestPerf$")
	var said strings.Builder
	child.Stdout, child.Stderr = &said, &said
	w, err := newWriter(ctx, rdma.Busy, "", func(addr string) error {
		child.Env = append(os.Environ(), "BAREWIRE_PERF="+what, "BAREWIRE_PERF_PEER="+addr)
		return child.Start()
	})
	figure := 0.0
	if err == nil {
		figure, err = measure(ctx, w)
	}
	err = errors.Join(err, w.close())
	if child.Process != nil {
		err = errors.Join(err, child.Wait())
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, said.String())
	}
	return figure
}

// latency is the median of half the time from one write to the next, in µs.
func latency(ctx context.Context, w *writer) (float64, error) {
	took := make([]float64, 0, perfPings)
	last := time.Now()
	err := w.pings(ctx, perfPings, true, func() {
		now := time.Now()
		took = append(took, float64(now.Sub(last).Nanoseconds())/2e3)
		last = now
	})
	if err != nil {
		return 0, err
	}
	return middle(took), nil
}

// bandwidth is that of writes which are posted as there is room, in MiB/s.
func bandwidth(ctx context.Context, w *writer) (float64, error) {
	began := time.Now()
	var op rdma.Op
	for range perfBulks {
		err := w.conn.WaitRoom(ctx)
		if err == nil {
			op, err = rdma.Write(w.conn, w.rem, w.out.Span(0, bulkWords))
		}
		if err != nil {
			return 0, err
		}
	}
	err := op.Wait(ctx)
	return float64(perfBulks*bulkWords*8) / (1 << 20) / time.Since(began).Seconds(), err
}

// perftest runs one of its programs against itself, and returns a column of the line about a size. Columns are bytes, iterations, and
// then for ib_write_lat the least, the greatest, the median; for ib_write_bw the peak and the average.
func perftest(t *testing.T, name string, size, n, column int) float64 {
	t.Helper()
	dev, _, _ := strings.Cut(device(t), ":")
	args := []string{"-d", dev, "-x", "1", "-s", strconv.Itoa(size), "-n", strconv.Itoa(n), "-F"}
	server := exec.Command(name, args...)
	var said strings.Builder
	server.Stdout, server.Stderr = &said, &said
	ok(t, server.Start())
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	var out []byte
	var err error
	for range 100 {
		if out, err = exec.Command(name, append(args, "127.0.0.1")...).CombinedOutput(); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond) // the server does not listen yet
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", name, err, out, said.String())
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) > column && f[0] == strconv.Itoa(size) {
			if v, err := strconv.ParseFloat(f[column], 64); err == nil {
				return v
			}
		}
	}
	t.Fatalf("%s said nothing of %d bytes:\n%s", name, size, out)
	return 0
}
