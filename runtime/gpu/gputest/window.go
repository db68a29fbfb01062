package gputest

import (
	"errors"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
)

var windowChecks = []check{{"window/put and get", putGet}, {"window/refused", windowRefused}}

// mapped is a window onto memory of the device, or nothing where there is none.
func (e *env) mapped(r *barewire.Region[sample.Body, barewire.GPU, barewire.Unregistered]) (w gpu.Window[sample.Body, barewire.Unregistered], ok bool) {
	w, err := gpu.Map(e.ctx, r)
	if e.dev.Info().Facts.Window == "" {
		e.refused(err, gpu.ErrNoWindow, e.dev.String())
		return w, false
	}
	e.must(err)
	return w, true
}

// putGet: what the host puts the device sees, and the other way round.
func putGet(e *env) {
	r := e.device(0)
	if w, ok := e.mapped(r); ok {
		var got [3]sample.Body
		e.must(gpu.Get(w, 4, got[:]))
		for i, b := range got {
			if b.Value != float32(4+i) {
				e.Errorf("element %d is %v", 4+i, b.Value)
			}
		}
		all := make([]sample.Body, count)
		for i := range all {
			all[i] = sample.Body{Value: float32(70 + i), Count: uint64(i)}
		}
		e.must(gpu.Put(w, 0, all))
		if w.Len() != count {
			e.Errorf("the window has %d elements", w.Len())
		}
		e.must(w.Close())
		e.deviceHolds(r, 70, 1, 0)
		e.wait(gpu.Launch(e.q, e.kernel("scale"), gpu.Line(count, 64), gpu.Mem(gpu.All(r)), gpu.Num(uint32(count)), gpu.Num(float32(2))))
		w, err := gpu.Map(e.ctx, r)
		e.must(err)
		e.must(gpu.Get(w, count-1, got[:1]))
		if got[0].Value != float32(70+count-1)*2 {
			e.Errorf("the last element is %v after a kernel", got[0].Value)
		}
		e.must(w.Close())
	}
	e.must(r.Close())
}

// windowRefused: windows keep operations off, and what is not in them is refused.
func windowRefused(e *env) {
	r, h := e.device(0), e.host(0)
	if w, ok := e.mapped(r); ok {
		_, err := gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r))
		e.refused(err, gpu.ErrMapped, "gputest/window.go:")
		_, err = gpu.Map(e.ctx, r)
		e.refused(err, gpu.ErrMapped)
		e.refused(r.Close(), barewire.ErrBorrowed, "gputest/window.go:")
		e.refused(gpu.Put(w, count, make([]sample.Body, 1)), barewire.ErrRange)
		e.refused(gpu.Get(w, -1, make([]sample.Body, 1)), barewire.ErrRange)
		e.refused(w.PutBytes(0, make([]byte, 17)), gpu.ErrLength)
		e.must(w.Close())
		e.refused(w.Close(), barewire.ErrWindowClosed)
		e.refused(gpu.Put(w, 0, make([]sample.Body, 1)), barewire.ErrWindowClosed)
		e.refused(gpu.Window[sample.Body, barewire.Unregistered]{}.Close(), barewire.ErrNoWindow)
		// It waits for operations that have the memory.
		op := e.spin(e.q, gpu.Mem(gpu.All(r)))
		w, err = gpu.Map(e.ctx, r)
		e.must(err)
		if !op.Done() {
			e.Error("mapped while a kernel runs")
		}
		e.must(w.Close())
	}
	e.must(errors.Join(r.Close(), h.Close()))
}
