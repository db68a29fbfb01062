//go:build amd64 || arm64

package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

// stream is a stream, with an event for each slot.
type stream struct {
	a      *adapter
	id     uintptr
	events []uintptr
	args   [12]uintptr          // of a call
	params [gpu.MaxArgs]uintptr // where the arguments of a kernel stand
}

// Stream makes a stream.
func (a *adapter) Stream(depth int) (gpu.Stream, error) {
	id, err := a.stream()
	if err != nil {
		return nil, err
	}
	s := &stream{a: a, id: id, events: make([]uintptr, 0, depth)}
	const noTiming = 2 // CU_EVENT_DISABLE_TIMING
	for range depth {
		out := heap()
		if err := a.in(&a.lib.eventCreate, "", addr(out), noTiming); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.events = append(s.events, uintptr(out[0]))
	}
	return s, nil
}

// Copy posts a copy.
func (s *stream) Copy(slot int, c *gpu.CopyWork) error {
	l := s.a.lib
	f := &l.within
	dst, src := s.place(&c.Dst), s.place(&c.Src)
	switch {
	case shared(c.Dst.Mem) || shared(c.Src.Mem):
		f = &l.copyAny
	case c.Src.Host != nil:
		f = &l.toDevice
	case c.Dst.Host != nil:
		f = &l.toHost
	}
	if err := s.a.enter(); err != nil {
		return err
	}
	defer s.a.leave()
	s.args = [12]uintptr{dst, src, c.Bytes, s.id}
	if r := f.fast(s.args[:4]); r != success {
		return s.a.see(f.failed(r, fmt.Sprintf("%d bytes", c.Bytes)))
	}
	return s.mark(slot)
}

// place is where one side of a copy is, for the driver.
func (s *stream) place(e *gpu.Side) uintptr {
	if e.Host != nil {
		return uintptr(e.Host)
	}
	return e.Mem.(*memory).dev + e.Off
}

// shared reports whether memory is neither the host's nor the device's alone, so that the driver has to find the direction.
func shared(m gpu.Memory) bool {
	mm, ok := m.(*memory)
	return ok && (mm.kind == gpu.UnifiedMemory || mm.kind == gpu.ManagedMemory)
}

// mark has the event of a slot happen when what was posted has ended. Where that fails it is waited for: it would go on, and
// nobody would know until when.
func (s *stream) mark(slot int) error {
	l := s.a.lib
	s.args[0], s.args[1] = s.events[slot], s.id
	r := l.eventRecord.fast(s.args[:2])
	if r == success {
		return nil
	}
	err := s.a.see(l.eventRecord.failed(r, ""))
	s.args[0] = s.id
	if r := l.streamSync.fast(s.args[:1]); r != success {
		err = errors.Join(err, s.a.see(l.streamSync.failed(r, "")))
	}
	return err
}

// Launch posts a kernel.
func (s *stream) Launch(slot int, w *gpu.LaunchWork) error {
	l := s.a.lib
	for i := range w.Args {
		a := &w.Args[i]
		if m, ok := a.Mem.(*memory); ok {
			a.Bits = uint64(m.dev + a.Off)
		} else if a.Host != nil {
			a.Bits = uint64(uintptr(a.Host))
		}
		s.params[i] = addr(&a.Bits)
	}
	if err := s.a.enter(); err != nil {
		return err
	}
	defer s.a.leave()
	g, t := &w.Grid.Groups, &w.Grid.Threads
	s.args = [12]uintptr{w.Code.(uintptr), uintptr(g[0]), uintptr(g[1]), uintptr(g[2]), uintptr(t[0]), uintptr(t[1]), uintptr(t[2]), 0, s.id, addr(&s.params[0]), 0}
	r := l.launch.fast(s.args[:11])
	runtime.KeepAlive(w)
	if r != success {
		return s.a.see(l.launch.failed(r, fmt.Sprintf("%v groups of %v", *g, *t)))
	}
	return s.mark(slot)
}

// Done reports whether the operation of a slot has ended. Of a device that is lost all have.
func (s *stream) Done(slot int) (bool, error) {
	if err := s.a.enter(); err != nil {
		return true, err
	}
	defer s.a.leave()
	l := s.a.lib
	s.args[0] = s.events[slot]
	switch r := l.eventQuery.fast(s.args[:1]); r {
	case success:
		return true, nil
	case notReady:
		return false, nil
	default:
		return s.failed(r)
	}
}

// failed is the end of an operation whose event cannot be asked for any more. Unless the device is lost, with all that runs, it is waited for.
func (s *stream) failed(r int32) (bool, error) {
	l := s.a.lib
	err := s.a.see(l.eventQuery.failed(r, "of this operation, or one before it"))
	if s.a.Lost() == nil {
		s.args[0] = s.id
		if r := l.streamSync.fast(s.args[:1]); r != success {
			err = errors.Join(err, s.a.see(l.streamSync.failed(r, "")))
		}
	}
	return true, err
}

// Close destroys the stream and its events.
func (s *stream) Close() error {
	var errs []error
	for _, e := range s.events {
		errs = append(errs, s.a.in(&s.a.lib.eventDestroy, "", e))
	}
	errs = append(errs, s.a.in(&s.a.lib.streamDestroy, "", s.id))
	return errors.Join(errs...)
}

// program is a module.
type program struct {
	a  *adapter
	id uintptr
}

// Load loads a module: PTX, cubin or fatbin.
func (a *adapter) Load(source []byte) (gpu.Program, error) {
	src, out := text(string(source)), heap() // PTX ends with a zero
	err := a.in(&a.lib.moduleLoad, fmt.Sprintf("%d bytes", len(source)), addr(out), addr(&src[0]))
	runtime.KeepAlive(src)
	if err != nil {
		return nil, err
	}
	return &program{a: a, id: uintptr(out[0])}, nil
}

// Kernel finds a function.
func (p *program) Kernel(name string) (gpu.Code, error) {
	n, out := text(name), heap()
	err := p.a.in(&p.a.lib.moduleFunction, name, addr(out), p.id, addr(&n[0]))
	runtime.KeepAlive(n)
	if err != nil {
		return nil, err
	}
	return uintptr(out[0]), nil
}

// Close unloads the module.
func (p *program) Close() error { return p.a.in(&p.a.lib.moduleUnload, "", p.id) }
