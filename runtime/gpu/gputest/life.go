package gputest

import (
	"errors"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

var lifeChecks = []check{
	{"life/again and again", again},
	{"life/nothing allocated", nothingAllocated},
	{"life/sync", sync_},
}

// again: a device is as good after many regions as after one.
func again(e *env) {
	for i := range 200 {
		r := e.device(float32(i))
		e.deviceHolds(r, float32(i), 1, 0)
		e.must(r.Close())
	}
}

// nothingAllocated: an operation allocates nothing on the Go heap, from the post to the end of the wait.
func nothingAllocated(e *env) {
	r, h := e.device(0), e.host(0)
	k := e.kernel("scale")
	if raceEnabled {
		e.must(errors.Join(r.Close(), h.Close()))
		e.Log("not counted: the race detector allocates")
		return
	}
	var first error
	note := func(op gpu.Op, err error) {
		if err == nil {
			err = op.Wait(e.ctx)
		}
		if first == nil {
			first = err
		}
	}
	for _, c := range []struct {
		what string
		do   func()
	}{
		{"a copy to the device", func() { note(gpu.CopyToDevice(e.q, gpu.All(r), gpu.All(h))) }},
		{"a copy to the host", func() { note(gpu.CopyToHost(e.q, gpu.All(h), gpu.All(r))) }},
		{"a copy within the device", func() { note(gpu.Copy(e.q, gpu.Some(r, 0, 10), gpu.Some(r, 20, 10))) }},
		{"a kernel", func() {
			note(gpu.Launch(e.q, k, gpu.Line(count, 64), gpu.Mem(gpu.All(r)), gpu.Num(uint32(count)), gpu.Num(float32(1))))
		}},
	} {
		for range gpu.DefaultDepth { // each place of the queue keeps its room for arguments
			c.do()
		}
		if n := testing.AllocsPerRun(100, c.do); n >= 1 {
			e.Errorf("%s allocates %v times", c.what, n)
		}
	}
	e.must(first)
	e.must(errors.Join(r.Close(), h.Close()))
}

// sync_: a device waits for all its queues.
func sync_(e *env) {
	q, err := e.dev.Queue(8)
	e.must(err)
	r, s := e.device(0), e.device(0)
	one, two := e.spin(q, gpu.Mem(gpu.All(r))), e.spin(e.q, gpu.Mem(gpu.All(s)))
	e.must(e.dev.Sync(e.ctx))
	if !one.Done() || !two.Done() {
		e.Error("something runs still")
	}
	e.must(errors.Join(q.Close(), r.Close(), s.Close()))
	e.refused(r.Close(), barewire.ErrReleased)
}
