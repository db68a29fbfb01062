package gpu

import (
	"context"
	"fmt"
	"sync/atomic"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// Window is a window of the host's onto memory of a device. The mapping may be write-combined, and across a bus: writing is fast, reading is
// slow, and nothing may be changed in place, nor by atomics. So elements are put and got whole. Operations of the device on the region
// are refused while it is open ([ErrMapped]), and the region can be neither closed nor registered. Who mapped it closes it, once. It may be
// copied; the zero value is none.
//
//barewire:type window
type Window[T barewire.Fixed[T], A barewire.Access] struct {
	_ [0]func(T, A)
	w *window
}

// window is a mapping.
type window struct {
	m      *memory
	h      *region.Handle
	loan   *region.Borrow
	state  uint64
	base   unsafe.Pointer
	closed atomic.Bool
}

// Map maps memory of a device for the host, where the device allows it: [DeviceInfo] says how in Facts.Window, else the error is
// [ErrNoWindow]. It waits for operations that have the region, until ctx ends; one that has ended maps nothing.
//
//barewire:effect maps=0 of r on ok, fresh=0 on ok
func Map[T barewire.Fixed[T], A barewire.Access](ctx context.Context, r *barewire.Region[T, barewire.GPU, A]) (Window[T, A], error) {
	h, gen, err := barewire.Core(friend, r)
	if err != nil {
		return Window[T, A]{}, err
	}
	if err := alive(ctx); err != nil {
		return Window[T, A]{}, fmt.Errorf("gpu: map: %s: %w", h.Name(), err)
	}
	loan, state, err := h.Borrow(gen)
	if err != nil {
		return Window[T, A]{}, region.Doing("map", err)
	}
	w := &window{h: h, loan: loan, state: state, m: memoryOf(h)}
	if err := w.open(ctx); err != nil {
		if !goesOn(err) {
			_ = loan.Return(state)
		}
		return Window[T, A]{}, fmt.Errorf("gpu: map: %s: %w", h.Name(), err)
	}
	return Window[T, A]{w: w}, nil
}

// open maps the memory.
func (w *window) open(ctx context.Context) error {
	if w.m == nil {
		return ErrNoWindow
	}
	x, ok := w.m.mem.(Mapper)
	if !ok || w.m.dev.info.Facts.Window == "" {
		return w.m.dev.noWindow()
	}
	if err := w.m.claim(ctx); err != nil {
		return err
	}
	if err := until(ctx, w.m.use.host); err != nil {
		w.m.settle(hostNot)
		return fmt.Errorf("operations have it: %w", err)
	}
	var err error
	w.base, err = bounded(ctx, func() (unsafe.Pointer, error) { return x.Map(ctx) }, func(_ unsafe.Pointer, err error) {
		if err == nil {
			_ = x.Unmap()
		}
		_ = w.giveBack()
	})
	switch {
	case goesOn(err):
	case err != nil:
		w.m.use.unhost()
		w.m.settle(hostNot)
	default:
		w.m.settle(hostMapped)
	}
	return err
}

// noWindow is the error of a device whose memory the host cannot map: why, what its BAR has to do with it, and what else there is.
func (d *Device) noWindow() error {
	s := ""
	for _, why := range []string{d.info.Facts.NoWindow, barOf(machine(), &d.info)} {
		if why != "" {
			s += why + ". "
		}
	}
	return fmt.Errorf("%w %s: %sUse copies, or gpu.NewHost", ErrNoWindow, d.name, s)
}

// giveBack ends the host's turn, and the loan.
func (w *window) giveBack() error {
	w.m.use.unhost()
	err := w.loan.Return(w.state)
	w.m.settle(hostNot)
	return err
}

// Close ends the window. A second Close is [barewire.ErrWindowClosed].
//
//barewire:effect releases=w
func (w Window[T, A]) Close() error {
	if w.w == nil {
		return barewire.ErrNoWindow
	}
	if w.w.closed.Swap(true) { // an exchange: what the processor has collected of writes goes before it
		return region.Doing("close window", w.w.loan.Fault(w.w.state))
	}
	m := w.w.m
	err := m.dev.call(m.mem.(Mapper).Unmap, func(error) { _ = w.w.giveBack() })
	if goesOn(err) {
		return fmt.Errorf("gpu: close window: %s: %w", w.w.h.Name(), err)
	}
	if rerr := w.w.giveBack(); err == nil {
		err = rerr
	}
	if err != nil && m.dev.ad.Lost() != nil {
		return nil
	}
	return err
}

// Len is how many elements there are.
//
//barewire:effect looks=w, counts=0 of w
func (w Window[T, A]) Len() int {
	if w.w == nil {
		return 0
	}
	return w.w.h.Count()
}

// PutBytes copies whole elements, as messages, to those from i on.
//
//barewire:effect uses=w
func (w Window[T, A]) PutBytes(i int, src []byte) error {
	at, err := w.w.bytes("put", i, len(src))
	if err == nil {
		copy(at, src)
	}
	return err
}

// GetBytes copies whole elements from i on, as messages. It is slow, as reads across a bus are.
//
//barewire:effect uses=w
func (w Window[T, A]) GetBytes(i int, dst []byte) error {
	at, err := w.w.bytes("get", i, len(dst))
	if err == nil {
		copy(dst, at)
	}
	return err
}

// Put copies elements to those of a window from i on.
//
//barewire:effect uses=w
func Put[T barewire.Castable[T], A barewire.Access](w Window[T, A], i int, src []T) error {
	b, err := bytesOf(src)
	if err != nil {
		return err
	}
	return w.PutBytes(i, b)
}

// Get copies elements of a window from i on. It is slow, as reads across a bus are.
//
//barewire:effect uses=w
func Get[T barewire.Castable[T], A barewire.Access](w Window[T, A], i int, dst []T) error {
	b, err := bytesOf(dst)
	if err != nil {
		return err
	}
	return w.GetBytes(i, b)
}

// bytesOf are the bytes of castable elements: their messages.
func bytesOf[T barewire.Castable[T]](s []T) ([]byte, error) {
	if !wire.LittleEndian {
		return nil, wire.ErrBigEndian
	}
	if len(s) == 0 {
		return nil, nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0]))), nil
}

// bytes are n bytes of whole elements from i on.
func (w *window) bytes(op string, i, n int) ([]byte, error) {
	if w == nil {
		return nil, barewire.ErrNoWindow
	}
	if w.closed.Load() {
		return nil, region.Doing(op, w.loan.Fault(w.state))
	}
	size := int(w.h.Type().Size)
	if n%size != 0 {
		return nil, wrap(ErrLength, "%s: %d bytes, and an element of %s has %d", op, n, w.h.Name(), size)
	}
	if count := w.h.Count(); i < 0 || i > count || n/size > count-i {
		return nil, region.Doing(op, w.h.Range(i, n/size))
	}
	return unsafe.Slice((*byte)(unsafe.Add(w.base, i*size)), n), nil
}
