package gputest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
)

var copyChecks = []check{
	{"copy/there and back", thereAndBack},
	{"copy/within", within},
	{"copy/ranges", ranges},
	{"copy/order", inOrder},
	{"copy/full queue", fullQueue},
	{"copy/many goroutines", goroutines},
	{"copy/cancelled wait", cancelled},
	{"copy/random", random},
}

func thereAndBack(e *env) {
	r := e.device(10)
	e.deviceHolds(r, 10, 1, 0)
	e.must(r.Close())
}

func within(e *env) {
	a, b := e.device(10), e.device(500)
	e.wait(gpu.Copy(e.q, gpu.All(a), gpu.All(b)))
	e.deviceHolds(a, 500, 1, 0)
	_, err := gpu.Copy(e.q, gpu.Some(a, 0, 10), gpu.Some(a, 9, 10))
	e.refused(err, gpu.ErrArgs, "overlap")
	e.wait(gpu.Copy(e.q, gpu.Some(a, 0, 10), gpu.Some(a, 10, 10)))
	e.must(a.Close())
	e.must(b.Close())
}

// ranges: what is not in a region, of another length, or nothing is refused.
func ranges(e *env) {
	r, h := e.device(0), e.host(0)
	for _, c := range []struct {
		i, n int
		j, m int
		want error
	}{
		{0, count + 1, 0, count + 1, barewire.ErrRange}, {-1, 2, 0, 2, barewire.ErrRange}, {count, 1, 0, 1, barewire.ErrRange},
		{0, 2, count - 1, 2, barewire.ErrRange}, {0, 2, 0, 3, gpu.ErrLength}, {5, 0, 5, 0, gpu.ErrEmpty},
	} {
		_, err := gpu.CopyToDevice(e.q, gpu.Some(r, c.i, c.n), gpu.Some(h, c.j, c.m))
		e.refused(err, c.want, "gpu: copy to the device")
		_, err = gpu.CopyToHost(e.q, gpu.Some(h, c.j, c.m), gpu.Some(r, c.i, c.n))
		e.refused(err, c.want, "gpu: copy to the host")
	}
	e.must(r.Close())
	e.must(h.Close())
}

// inOrder: what is posted later is done later.
func inOrder(e *env) {
	r, a, b, back := e.device(0), e.host(1000), e.host(2000), e.host(0)
	_, err := gpu.CopyToDevice(e.q, gpu.All(r), gpu.All(a))
	e.must(err)
	_, err = gpu.Launch(e.q, e.kernel("scale"), gpu.Line(count, 32), gpu.Mem(gpu.All(r)), gpu.Num(uint32(count)), gpu.Num(float32(3)))
	e.must(err)
	_, err = gpu.CopyToHost(e.q, gpu.All(back), gpu.All(r))
	e.must(err)
	_, err = gpu.CopyToDevice(e.q, gpu.All(r), gpu.All(b))
	e.must(err)
	e.must(e.q.Flush(e.ctx))
	e.must(barewire.With(back, func(w barewire.Window[sample.Body, barewire.Unregistered]) error { return holds(w, 1000, 3, 1) }))
	e.deviceHolds(r, 2000, 1, 0)
	e.must(errors.Join(r.Close(), a.Close(), b.Close(), back.Close()))
}

// fullQueue: a queue takes as many operations as it is deep, and says so.
func fullQueue(e *env) {
	q, err := e.dev.Queue(4)
	e.must(err)
	r, h := e.device(0), e.host(0)
	spin := e.spin(q, gpu.Mem(gpu.All(r)))
	full := false
	for range 4 {
		if _, err := gpu.CopyToDevice(q, gpu.All(r), gpu.All(h)); err != nil {
			e.refused(err, gpu.ErrQueueFull, "a kernel spin posted at gputest/")
			full = true
		}
	}
	if !full && !spin.Done() {
		e.Error("a queue of 4 took 5")
	}
	e.must(spin.Wait(e.ctx))
	e.must(q.Flush(e.ctx))
	e.wait(gpu.CopyToDevice(q, gpu.All(r), gpu.All(h)))
	e.must(errors.Join(q.Close(), r.Close(), h.Close()))
}

// goroutines: any goroutine, on any thread, may post and wait.
func goroutines(e *env) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			q, err := e.dev.Queue(8)
			if err != nil {
				e.Error(err)
				return
			}
			r, err := gpu.New(e.dev, sample.BodyInGPU(), 64)
			if err != nil {
				e.Error(err)
				return
			}
			h, err := barewire.New(sample.BodyInCPU(), 64)
			if err != nil {
				e.Error(err)
				return
			}
			for i := range 50 {
				if err := errors.Join(round(e.ctx, q, r, h, float32(g*100+i)), round(e.ctx, e.q, r, h, float32(g*100+i)+0.5)); err != nil {
					e.Error(err)
					return
				}
			}
			if err := errors.Join(q.Close(), r.Close(), h.Close()); err != nil {
				e.Error(err)
			}
		})
	}
	wg.Wait()
}

// round copies elements there and back.
func round(ctx context.Context, q *gpu.Queue, r *barewire.Region[sample.Body, barewire.GPU, barewire.Unregistered], h *barewire.Region[sample.Body, barewire.CPU, barewire.Unregistered], first float32) error {
	w, err := barewire.Open(h)
	if err != nil {
		return err
	}
	put(w, first)
	op, err := gpu.CopyToDevice(q, gpu.All(r), gpu.All(h))
	if err == nil {
		err = op.Wait(ctx)
	}
	if err != nil {
		return errors.Join(err, w.Close())
	}
	put(w, -1)
	if op, err = gpu.CopyToHost(q, gpu.All(h), gpu.All(r)); err == nil {
		err = op.Wait(ctx)
	}
	if err == nil {
		err = holds(w, first, 1, 0)
	}
	return errors.Join(err, w.Close())
}

// cancelled: a wait that ends early leaves the operation alone.
func cancelled(e *env) {
	r := e.device(0)
	op := e.spin(e.q, gpu.Mem(gpu.All(r)))
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	if err := op.Wait(ctx); err != nil { // nil where it ended meanwhile
		e.refused(err, context.Canceled, "kernel spin posted at gputest/")
	}
	e.must(op.Wait(e.ctx))
	e.must(op.Wait(e.ctx))
	e.must(r.Close())
}

// random: any copies end as the same on the host.
func random(e *env) {
	rnd := rand.New(rand.NewPCG(7, 11))
	r, h := e.device(0), e.host(0)
	there, here := make([]float32, count), make([]float32, count)
	for i := range count {
		there[i], here[i] = float32(i), float32(i)
	}
	for round := range 2000 {
		n := 1 + rnd.IntN(count)
		i, j := rnd.IntN(count-n+1), rnd.IntN(count-n+1)
		var err error
		switch rnd.IntN(4) {
		case 0:
			_, err = gpu.CopyToDevice(e.q, gpu.Some(r, i, n), gpu.Some(h, j, n))
			copy(there[i:i+n], here[j:j+n])
		case 1:
			_, err = gpu.CopyToHost(e.q, gpu.Some(h, j, n), gpu.Some(r, i, n))
			copy(here[j:j+n], there[i:i+n])
		case 2:
			if i+n <= j || j+n <= i {
				_, err = gpu.Copy(e.q, gpu.Some(r, i, n), gpu.Some(r, j, n))
				copy(there[i:i+n], there[j:j+n])
			}
		default:
			e.must(e.q.Flush(e.ctx))
			e.must(barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error {
				for k := range n {
					here[i+k] = rnd.Float32()
					sample.BodyAt(w, i+k).SetValue(here[i+k])
				}
				return nil
			}))
		}
		e.must(err)
		if round%gpu.DefaultDepth == 0 || rnd.IntN(20) == 0 {
			e.must(e.q.Flush(e.ctx))
		}
	}
	e.wait(gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r)))
	e.must(barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error {
		for i, v := range sample.BodyAll(w) {
			if v.Value() != there[i] {
				e.Fatalf("element %d is %v, want %v", i, v.Value(), there[i])
			}
		}
		return nil
	}))
	e.must(errors.Join(r.Close(), h.Close()))
}
