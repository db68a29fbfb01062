//go:build amd64 || arm64

package opencl

import (
	"fmt"
	"runtime"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

const (
	eventStatus            = 0x11D3 // CL_EVENT_COMMAND_EXECUTION_STATUS
	createTypeRegion       = 0x1220 // CL_BUFFER_CREATE_TYPE_REGION
	notBlocking            = 0
	complete         int32 = 0
)

// stream is a command queue.
type stream struct {
	a      *adapter
	q      uintptr
	events []uint64    // by slot; 0: none
	args   [12]uintptr // of a call
	out    scratch     // what calls write
}

// Stream makes a queue.
func (a *adapter) Stream(depth int) (gpu.Stream, error) {
	q, err := a.queue()
	if err != nil {
		return nil, err
	}
	return &stream{a: a, q: q, events: make([]uint64, depth)}, nil
}

// Copy posts a copy. The stream's memory is on the heap, and so are the events.
func (s *stream) Copy(slot int, c *gpu.CopyWork) error {
	l := s.a.lib
	ev := addr(&s.events[slot])
	dst, _ := c.Dst.Mem.(*memory)
	src, _ := c.Src.Mem.(*memory)
	f, n := &l.enqueueCopy, 9
	switch {
	case dst.coarse() && src.coarse():
		f, n = &l.enqueueSVMCopy, 8
		s.args = [12]uintptr{s.q, notBlocking, uintptr(c.Dst.Host), uintptr(c.Src.Host), c.Bytes, 0, 0, ev}
	case dst.coarse() || src.coarse():
		return s.turn(ev, c, dst, src)
	case dst.device() && src.device():
		s.args = [12]uintptr{s.q, src.buf, dst.buf, c.Src.Off, c.Dst.Off, c.Bytes, 0, 0, ev}
	case dst.device():
		f = &l.enqueueWrite
		s.args = [12]uintptr{s.q, dst.buf, notBlocking, c.Dst.Off, c.Bytes, uintptr(c.Src.Host), 0, 0, ev}
	default:
		f = &l.enqueueRead
		s.args = [12]uintptr{s.q, src.buf, notBlocking, c.Src.Off, c.Bytes, uintptr(c.Dst.Host), 0, 0, ev}
	}
	if st := f.fast(s.args[:n]); st != 0 {
		return s.a.see(f.failed(st, fmt.Sprintf("%d bytes", c.Bytes)))
	}
	return s.start()
}

// turn copies between a buffer and shared memory of coarse grain, which the host, that is what reads and writes buffers, has to have for it: it is
// mapped before and unmapped after, by the queue, in its order.
func (s *stream) turn(ev uintptr, c *gpu.CopyWork, dst, src *memory) error {
	l := s.a.lib
	m, buf, off, at, how, f := src, dst, c.Dst.Off, uintptr(c.Src.Host), uintptr(mapRead), &l.enqueueWrite
	if dst.coarse() {
		m, buf, off, at, how, f = dst, src, c.Src.Off, uintptr(c.Dst.Host), mapRead|mapWrite, &l.enqueueRead
	}
	if err := l.enqueueSVMMap.status(&s.args, "", s.q, notBlocking, how, uintptr(m.at), m.n, 0, 0, 0); err != nil {
		return s.a.see(err)
	}
	err := f.status(&s.args, fmt.Sprintf("%d bytes", c.Bytes), s.q, buf.buf, notBlocking, off, c.Bytes, at, 0, 0, 0)
	if uerr := l.enqueueSVMUnmap.status(&s.args, "", s.q, uintptr(m.at), 0, 0, ev); err == nil {
		err = uerr
	}
	if err != nil {
		return s.a.see(err)
	}
	return s.start()
}

// device reports whether memory is a buffer.
func (m *memory) device() bool { return m != nil && m.kind == gpu.DeviceMemory }

// coarse reports whether memory is shared, and host and device have it in turns.
func (m *memory) coarse() bool { return m != nil && m.kind == gpu.ManagedMemory }

// start has the device begin with what was posted: OpenCL may else wait for more.
func (s *stream) start() error {
	s.args[0] = s.q
	if st := s.a.lib.flush.fast(s.args[:1]); st != 0 {
		return s.a.see(s.a.lib.flush.failed(st, ""))
	}
	return nil
}

// Launch posts a kernel.
func (s *stream) Launch(slot int, w *gpu.LaunchWork) error {
	k := w.Code.(*kernel)
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(w.Args) != len(k.args) {
		return fmt.Errorf("%w: it takes %d, and is given %d", gpu.ErrArgs, len(k.args), len(w.Args))
	}
	var subs []uintptr
	defer func() {
		for _, b := range subs { // what runs keeps it
			_ = s.a.lib.releaseMem.do("", b)
		}
	}()
	for i := range w.Args {
		if err := k.takes(i, &w.Args[i]); err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
		sub, err := s.arg(k, i, &w.Args[i])
		if err != nil {
			return s.a.see(fmt.Errorf("argument %d: %w", i, err))
		}
		if sub != 0 {
			subs = append(subs, sub)
		}
	}
	// The global size stands in the first three words of out, the local in the next.
	for i := range 3 {
		s.out[i] = uint64(w.Grid.Groups[i]) * uint64(w.Grid.Threads[i])
		s.out[3+i] = uint64(w.Grid.Threads[i])
	}
	f := &s.a.lib.enqueueKernel
	s.args = [12]uintptr{s.q, k.id, 3, 0, addr(&s.out[0]), addr(&s.out[3]), 0, 0, addr(&s.events[slot])}
	if st := f.fast(s.args[:9]); st != 0 {
		return s.a.see(f.failed(st, fmt.Sprintf("%v groups of %v", w.Grid.Groups, w.Grid.Threads)))
	}
	return s.start()
}

// arg sets an argument of a kernel. sub is a buffer within a buffer that was made for it, or 0.
func (s *stream) arg(k *kernel, i int, a *gpu.ArgWork) (sub uintptr, err error) {
	l := s.a.lib
	m, _ := a.Mem.(*memory)
	switch {
	case m == nil && a.Host != nil:
		return 0, l.setArgSVM.status(&s.args, "", k.id, uintptr(i), uintptr(a.Host))
	case m == nil:
		err := l.setArg.status(&s.args, "a number", k.id, uintptr(i), a.Bytes, addr(&a.Bits))
		runtime.KeepAlive(a)
		return 0, err
	case !m.device():
		return 0, l.setArgSVM.status(&s.args, "", k.id, uintptr(i), uintptr(m.at)+a.Off)
	}
	s.out[0] = uint64(m.buf)
	if a.Off != 0 {
		if sub, err = s.within(m, a); err != nil {
			return 0, err
		}
		s.out[0] = uint64(sub)
	}
	if err := l.setArg.status(&s.args, "", k.id, uintptr(i), 8, addr(&s.out[0])); err != nil {
		if sub != 0 {
			_ = l.releaseMem.do("", sub)
		}
		return 0, err
	}
	return sub, nil
}

// within makes a buffer of a part of a buffer.
func (s *stream) within(m *memory, a *gpu.ArgWork) (uintptr, error) {
	at := heap() // cl_buffer_region: origin and size
	at[0], at[1] = uint64(a.Off), uint64(a.Bytes)
	out := heap()
	sub, err := s.a.lib.createSubBuffer.make(fmt.Sprintf("%d bytes from %d on, where it takes multiples of %d", a.Bytes, a.Off, s.a.found.align),
		out, m.buf, memReadWrite, createTypeRegion, addr(at), addr(out))
	runtime.KeepAlive(at)
	return sub, err
}

// status calls a function with arguments put where nothing is allocated for them.
func (c call) status(room *[12]uintptr, asked string, args ...uintptr) error {
	n := copy(room[:], args)
	if st := c.fast(room[:n]); st != 0 {
		return c.failed(st, asked)
	}
	return nil
}

// Done reports whether the operation of a slot has ended.
func (s *stream) Done(slot int) (bool, error) {
	l := s.a.lib
	s.out[0] = 0
	s.args = [12]uintptr{uintptr(s.events[slot]), eventStatus, 4, addr(&s.out[0]), 0}
	st := l.getEventInfo.fast(s.args[:5])
	status := int32(s.out[0])
	switch {
	case st != 0:
		return true, s.a.see(l.getEventInfo.failed(st, ""))
	case status > complete:
		return false, nil
	}
	s.args[0] = uintptr(s.events[slot])
	s.events[slot] = 0
	if st := l.releaseEvent.fast(s.args[:1]); st != 0 {
		return true, s.a.see(l.releaseEvent.failed(st, ""))
	}
	if status < 0 {
		return true, s.a.see(call{name: "what was posted"}.failed(status, ""))
	}
	return true, nil
}

// Close releases the queue.
func (s *stream) Close() error { return s.a.lib.releaseQueue.do("", s.q) }
