//go:build amd64 || arm64

package cuda

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	_ "github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
	_ "github.com/fidelityframework/barewire-gen/runtime/rdma/shm"
	_ "github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs"
)

// cards is the stand-in for libibverbs of package verbs, whose device takes memory by a dma-buf, but for that of the variant "-DBARE".
func cards(t *testing.T, variant ...string) *verbs.Provider {
	t.Helper()
	path := filepath.Join(t.TempDir(), "libfakeverbs.so")
	args := append([]string{"-shared", "-fPIC", "-O2", "-Wl,-Bsymbolic", "-o", path, "../../rdma/verbs/testdata/fake.c"}, variant...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		const need = "this needs a C compiler and the headers of rdma-core (Debian: gcc, libibverbs-dev): %v: %s"
		line, _, _ := strings.Cut(string(out), "\n")
		if os.Getenv("CI") != "" {
			t.Fatalf(need, err, line)
		}
		t.Skipf(need, err, line)
	}
	return verbs.New(verbs.Options{Library: path})
}

// peers are a domain, and one that is connected to it.
type peers struct {
	*testing.T
	own         *rdma.Domain
	there, here *rdma.Conn
	far         *rdma.Domain
}

// connect opens a device twice, and connects the two.
func connect(t *testing.T, cfg rdma.Config) *peers {
	t.Helper()
	p := &peers{T: t}
	cfg.Logger = slog.New(slog.DiscardHandler)
	for _, dom := range []**rdma.Domain{&p.own, &p.far} {
		dev, err := rdma.Open(t.Context(), cfg)
		p.must(err)
		t.Cleanup(func() {
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
		})
		*dom, err = dev.Domain()
		p.must(err)
	}
	ln, err := p.own.Listen(t.Context(), "")
	p.must(err)
	done := make(chan error, 1)
	go func() {
		var err error
		p.here, err = ln.Accept(t.Context())
		done <- err
	}()
	p.there, err = p.far.Dial(t.Context(), ln.Addr())
	p.must(errors.Join(err, <-done, ln.Close()))
	return p
}

func (p *peers) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// values are the values of a host region's elements.
func values[A barewire.Access](t *testing.T, r *barewire.Region[sample.Body, barewire.CPU, A]) (v []float32) {
	t.Helper()
	if err := barewire.With(r, func(w barewire.Window[sample.Body, A]) error {
		for _, b := range sample.BodyAll(w) {
			v = append(v, b.Value())
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return v
}

// number gives a host region's elements values from first on.
func number[A barewire.Access](t *testing.T, r *barewire.Region[sample.Body, barewire.CPU, A], first int) {
	t.Helper()
	if err := barewire.With(r, func(w barewire.Window[sample.Body, A]) error {
		for i, b := range sample.BodyAll(w) {
			b.SetValue(float32(first + i))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// wants wants values from first on, times k.
func wants(t *testing.T, what string, got []float32, first int, k float32) {
	t.Helper()
	for i, v := range got {
		if want := float32(first+i) * k; v != want {
			t.Fatalf("%s: element %d is %v, want %v", what, i, v, want)
		}
	}
}

// TestRegister is memory of a GPU in a peer's reach, from end to end: it is registered with a network card by its dma-buf; a peer
// writes to it and says so; [gpu.Arrived] makes that visible; a kernel and a copy work on it; the peer reads what the kernel made. The
// processor touches none of it: the stand-in's memory is closed to it.
func TestRegister(t *testing.T) {
	s := fake(t).now(setLate, 1)
	c := newScene(t, s)
	p := connect(t, rdma.Config{Provider: cards(t)})
	mr, err := rdma.Register(p.own, c.r, sample.BodyRemoteReadWrite())
	p.must(err)
	p.must(rdma.Offer(t.Context(), p.here, "bodies", mr))

	host, err := barewire.New(sample.BodyInCPU(), elements)
	p.must(err)
	number(t, host, 10)
	mine, err := rdma.Register(p.far, host, sample.BodyLocal())
	p.must(err)
	rem, err := rdma.Import(t.Context(), p.there, "bodies", sample.BodyRemoteReadWrite())
	p.must(err)
	wrote, err := rdma.WriteNotify(p.there, rem, mine.Span(0, elements), 7)
	p.must(err)
	note, err := p.here.NextNotification(t.Context())
	p.must(err)
	if note.Imm != 7 {
		t.Errorf("the notification has %d", note.Imm)
	}
	p.must(wrote.Wait(t.Context()))

	look := func() []float32 {
		t.Helper()
		op, err := gpu.CopyToHost(c.q, gpu.All(c.h), gpu.All(mr))
		p.must(err)
		p.must(op.Wait(t.Context()))
		return values(t, c.h)
	}
	wants(t, "before Arrived the device has not seen it", look(), 0, 0)
	p.must(gpu.Arrived(mr))
	wants(t, "what the peer wrote", look(), 10, 1)

	mod, err := c.dev.Module(t.Context(), kernels)
	p.must(err)
	scale, err := mod.Kernel("scale")
	p.must(err)
	op, err := gpu.Launch(c.q, scale, gpu.Line(elements, 32), gpu.Mem(gpu.All(mr)), gpu.Num(uint32(elements)), gpu.Num(float32(3)))
	p.must(err)
	p.must(op.Wait(t.Context()))
	read, err := rdma.Read(p.there, mine.Span(0, elements), rem)
	p.must(err)
	p.must(read.Wait(t.Context()))
	wants(t, "what the kernel made of it, read by the peer", values(t, mine), 10, 3)

	// Neither side takes the memory from the other: what the device works on stays registered, and what was registered and is no
	// more is the device's as before.
	s.now(setHold, 1)
	op, err = gpu.CopyToHost(c.q, gpu.All(c.h), gpu.All(mr))
	p.must(err)
	_, err = rdma.Deregister(t.Context(), mr)
	c.refused(err, barewire.ErrInFlight, "posted at cuda/rdma_linux_test.go:")
	s.now(setHold, 0)
	p.must(op.Wait(t.Context()))
	old := c.r
	c.r, err = rdma.Deregister(t.Context(), mr)
	p.must(err)
	_, err = gpu.CopyToHost(c.q, gpu.All(c.h), gpu.All(old))
	c.refused(err, barewire.ErrMoved)
	late, err := rdma.Write(p.there, rem, mine.Span(0, elements))
	if err == nil {
		err = late.Wait(t.Context())
	}
	if err == nil {
		err = p.there.Flush(t.Context())
	}
	if err == nil {
		t.Error("a peer wrote to memory that is registered no more")
	}
	op, err = gpu.CopyToHost(c.q, gpu.All(c.h), gpu.All(c.r))
	p.must(err)
	p.must(op.Wait(t.Context()))
	wants(t, "as the kernel left it", values(t, c.h), 10, 3)
	p.must(errors.Join(mine.Close(), mod.Close(t.Context())))
	c.close()
}

// TestRegisterTwice: one memory for two cards is one memory.
func TestRegisterTwice(t *testing.T) {
	c := newScene(t, fake(t))
	p := connect(t, rdma.Config{Provider: cards(t)})
	mr, err := rdma.Register(p.own, c.r, sample.BodyRemoteRead())
	p.must(err)
	again, err := rdma.Also(p.far, mr, sample.BodyLocal())
	p.must(err)
	c.post2(t, mr)
	p.must(again.Close())
	c.r, err = rdma.Deregister(t.Context(), mr)
	p.must(err)
	c.close()
}

// post2 copies numbers to a registered region, and back.
func (c *scene) post2(t *testing.T, mr *barewire.Region[sample.Body, barewire.GPU, barewire.RemoteRead]) {
	t.Helper()
	number(t, c.h, 4)
	op, err := gpu.CopyToDevice(c.q, gpu.All(mr), gpu.All(c.h))
	if err == nil {
		err = op.Wait(t.Context())
	}
	number(t, c.h, 0)
	if err == nil {
		op, err = gpu.CopyToHost(c.q, gpu.All(c.h), gpu.All(mr))
	}
	if err == nil {
		err = op.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "through a registered region", values(t, c.h), 4, 1)
}

// TestRegisterRefused: transports in software have no way to memory of a GPU, nor has a card that takes no dma-buf, nor any with a GPU
// that exports none: each refusal is errors.ErrUnsupported, says why, and leaves the region as it was.
func TestRegisterRefused(t *testing.T) {
	for _, x := range []struct {
		name string
		cfg  rdma.Config
		gpu  []int // attributes
		says string
	}{
		{"soft", rdma.Config{Device: "soft"}, nil, "takes none by a dma-buf"},
		{"shm", rdma.Config{Device: "shm"}, nil, "takes none by a dma-buf"},
		{"iwarp", rdma.Config{Device: "iwarp"}, nil, "takes none by a dma-buf"},
		{"a card without dma-buf", rdma.Config{Provider: cards(t, "-DBARE")}, nil, "takes none by a dma-buf"},
		{"a GPU without dma-buf", rdma.Config{Provider: cards(t)}, []int{attrDMABuf, 0}, "cuda/0 exports none as a dma-buf; register memory of gpu.NewHost"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := newScene(t, fake(t).with(x.gpu...))
			dev, err := rdma.Open(t.Context(), x.cfg)
			if err != nil {
				t.Fatal(err)
			}
			dom, err := dev.Domain()
			if err != nil {
				t.Fatal(err)
			}
			_, err = rdma.Register(dom, c.r, sample.BodyRemoteReadWrite())
			if x.gpu != nil {
				c.refused(err, gpu.ErrNotExportable)
			}
			c.refused(err, errors.ErrUnsupported, x.says, "region of sample.Body made at cuda/fault_linux_test.go:")
			if err := c.post().Wait(t.Context()); err != nil {
				t.Error(err)
			}
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
			c.close()
		})
	}
}

// TestRegisterHost is the way of any machine: pinned host memory that is mapped into the GPU is registered with whatever there
// is, and a kernel works in place on what a peer wrote. Memory that a driver allocated has no file, so shm, which passes files, refuses it.
func TestRegisterHost(t *testing.T) {
	for _, device := range []string{"soft", "iwarp"} {
		t.Run(device, func(t *testing.T) { pinnedTarget(t, rdma.Config{Device: device}) })
	}
	t.Run("verbs", func(t *testing.T) { pinnedTarget(t, rdma.Config{Provider: cards(t)}) })
	t.Run("shm", func(t *testing.T) {
		c := newScene(t, fake(t))
		h, err := gpu.NewHost(c.dev, sample.BodyInCPU(), elements)
		if err != nil {
			t.Fatal(err)
		}
		dev, err := rdma.Open(t.Context(), rdma.Config{Device: "shm"})
		if err != nil {
			t.Fatal(err)
		}
		dom, err := dev.Domain()
		if err != nil {
			t.Fatal(err)
		}
		_, err = rdma.Register(dom, h, sample.BodyLocal())
		c.refused(err, err, "no file for its memory: it is pinned host memory of cuda/0")
		if err := errors.Join(h.Close(), dev.Close()); err != nil { //barewire:ignore BW5103 it was refused, so h is as it was
			t.Error(err)
		}
		c.close()
	})
}

// pinnedTarget has a peer write to pinned memory, and a kernel work on it.
func pinnedTarget(t *testing.T, cfg rdma.Config) {
	c := newScene(t, fake(t))
	p := connect(t, cfg)
	pinned, err := gpu.NewHost(c.dev, sample.BodyInCPU(), elements)
	p.must(err)
	mr, err := rdma.Register(p.own, pinned, sample.BodyRemoteWrite())
	p.must(err)
	p.must(rdma.Offer(t.Context(), p.here, "pinned", mr))
	host, err := barewire.New(sample.BodyInCPU(), elements)
	p.must(err)
	number(t, host, 5)
	mine, err := rdma.Register(p.far, host, sample.BodyLocal())
	p.must(err)
	rem, err := rdma.Import(t.Context(), p.there, "pinned", sample.BodyRemoteWrite())
	p.must(err)
	write, err := rdma.WriteNotify(p.there, rem, mine.Span(0, elements), 1)
	p.must(err)
	_, err = p.here.NextNotification(t.Context())
	p.must(err)
	// The peer may hear of a write before it is over here, and mine cannot be closed before.
	p.must(write.Wait(t.Context()))
	mod, err := c.dev.Module(t.Context(), kernels)
	p.must(err)
	scale, err := mod.Kernel("scale")
	p.must(err)
	op, err := gpu.Launch(c.q, scale, gpu.Line(elements, 32), gpu.Mem(gpu.All(mr)), gpu.Num(uint32(elements)), gpu.Num(float32(2)))
	p.must(err)
	p.must(op.Wait(t.Context()))
	wants(t, "in place", values(t, mr), 5, 2)
	p.must(errors.Join(mr.Close(), mine.Close(), mod.Close(context.Background())))
	c.close()
}
