package gpu

import (
	"context"
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// Acquire gives managed memory to the host until [Release]. It waits for the operations that have it, and, where the device
// excludes the host from managed memory while any kernel runs, for all kernels; until Release those are refused then ([ErrHostHas]). The error
// is ctx's where that has ended, before or meanwhile, or [ErrHostHas] where it is acquired already.
//
//barewire:effect acquires=m on ok
func Acquire[T barewire.Fixed[T], A barewire.Access](ctx context.Context, m *barewire.Region[T, barewire.Managed, A]) error {
	h, gen, err := barewire.Core(friend, m)
	if err != nil {
		return err
	}
	if err := alive(ctx); err != nil {
		return fmt.Errorf("gpu: acquire: %s: %w", h.Name(), err)
	}
	// Held for as long as this takes: it is not closed meanwhile.
	if err := h.Hold(gen); err != nil {
		return region.Doing("acquire", err)
	}
	mm := memoryOf(h)
	if mm == nil {
		h.Drop()
		return wrap(ErrNotHere, "acquire: %s is no memory of a GPU's allocator", h.Name())
	}
	err = mm.acquire(ctx, h.Drop)
	if !goesOn(err) {
		h.Drop()
	}
	if err != nil {
		return fmt.Errorf("gpu: acquire: %s: %w", h.Name(), err)
	}
	return nil
}

// acquire does what Acquire does. Where the driver does not answer, drop is called when it has.
func (m *memory) acquire(ctx context.Context, drop func()) error {
	x, ok := m.mem.(Acquirer)
	if !ok {
		return ErrNotHere
	}
	if err := m.claim(ctx); err != nil {
		return err
	}
	if err := m.turn(ctx); err != nil {
		m.settle(hostNot)
		return err
	}
	err := callIn(ctx, func() error { return x.Acquire(ctx) }, func(err error) {
		if err == nil {
			_ = x.Yield()
		}
		m.handBack()
		drop()
		m.settle(hostNot)
	})
	switch {
	case goesOn(err):
	case err != nil:
		m.handBack()
		m.settle(hostNot)
	default:
		m.settle(hostAcquired)
	}
	return err
}

// claim notes that the host takes the memory, unless it has it. While somebody else takes it, or gives it back, it waits for what becomes of that.
func (m *memory) claim(ctx context.Context) (err error) {
	at := where.Quick() // not further in: a mark has the innermost calls only
	if late := until(ctx, func() (settled bool) {
		settled, err = m.tryClaim(at)
		return settled
	}); late != nil {
		return fmt.Errorf("it is being acquired or released, since %s: %w", m.since(), late)
	}
	return err
}

// tryClaim is claim without waiting, for who asked at a place.
func (m *memory) tryClaim(at where.Mark) (settled bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.has {
	case hostNot:
		m.has = hostTakes
		m.at = at
	case hostMapped:
		err = fmt.Errorf("%w, at %s", ErrMapped, m.at)
	case hostAcquired:
		err = fmt.Errorf("%w: acquired at %s", ErrHostHas, m.at)
	default:
		return false, nil
	}
	return true, err
}

// since is where the host began with what it does with the memory.
func (m *memory) since() where.Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at
}

// settle notes what the host has of the memory from now on.
func (m *memory) settle(has hostHas) {
	m.mu.Lock()
	m.has = has
	m.mu.Unlock()
}

// turn waits until it is the host's turn: no operation has the memory, and no kernel runs where that matters.
func (m *memory) turn(ctx context.Context) error {
	if err := until(ctx, m.use.host); err != nil {
		return fmt.Errorf("operations have it: %w", err)
	}
	if m.dev.info.Facts.Exclusive {
		if err := until(ctx, m.dev.kernels.host); err != nil {
			m.use.unhost()
			return fmt.Errorf("kernels run on %s: %w", m.dev.name, err)
		}
	}
	return nil
}

// handBack ends the host's turn.
func (m *memory) handBack() {
	if m.dev.info.Facts.Exclusive {
		m.dev.kernels.unhost()
	}
	m.use.unhost()
}

// until polls all queues until it works, or ctx ends.
func until(ctx context.Context, works func() bool) error {
	var p pauses
	for !works() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		settle()
		p.next()
	}
	return nil
}

// Release gives managed memory to the device again. It is [barewire.ErrBorrowed] while windows on it are open, and
// [ErrNotAcquired] where the host has it not.
//
//barewire:effect yields=m
func Release[T barewire.Fixed[T], A barewire.Access](m *barewire.Region[T, barewire.Managed, A]) error {
	h, gen, err := barewire.Core(friend, m)
	if err != nil {
		return err
	}
	if err := h.Hold(gen); err != nil {
		return region.Doing("release", err)
	}
	mm := memoryOf(h)
	if mm == nil {
		h.Drop()
		return wrap(ErrNotHere, "release: %s is no memory of a GPU's allocator", h.Name())
	}
	if err := mm.yields(h); err != nil {
		h.Drop()
		return err
	}
	ended := func(error) {
		mm.handBack()
		h.Drop()
		mm.settle(hostNot)
	}
	if err = mm.dev.call(mm.mem.(Acquirer).Yield, ended); !goesOn(err) {
		ended(err)
	}
	if err != nil {
		return fmt.Errorf("gpu: release: %s: %w", h.Name(), err)
	}
	return nil
}

// yields begins the end of the host's turn that Acquire began, unless windows are open.
func (m *memory) yields(h *region.Handle) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.has != hostAcquired {
		return wrap(ErrNotAcquired, "release: %s", h.Name())
	}
	m.has = hostYields // who opens a window now sees that it is late
	if n, _ := h.Windows(); n > 0 {
		m.has = hostAcquired
		return region.Doing("release", h.Borrowed())
	}
	return nil
}

// OpenManaged opens a window on managed memory that the host has acquired. The error is [ErrNotAcquired] where it has not, and
// otherwise as of [barewire.Open].
//
//barewire:effect needs=m, borrows=0 of m on ok, fresh=0 on ok
func OpenManaged[T barewire.Fixed[T], A barewire.Access](m *barewire.Region[T, barewire.Managed, A]) (barewire.Window[T, A], error) {
	h, gen, err := barewire.Core(friend, m)
	if err != nil {
		return barewire.Window[T, A]{}, err
	}
	if err := h.Check(gen); err != nil {
		return barewire.Window[T, A]{}, region.Doing("open", err)
	}
	mm := memoryOf(h)
	if mm == nil {
		return barewire.Window[T, A]{}, wrap(ErrNotHere, "open: %s is no memory of a GPU's allocator", h.Name())
	}
	w, err := barewire.OpenFor(friend, m)
	if err != nil {
		return barewire.Window[T, A]{}, err
	}
	mm.mu.Lock()
	has := mm.has
	mm.mu.Unlock()
	if has != hostAcquired {
		_ = w.Close()
		return barewire.Window[T, A]{}, wrap(ErrNotAcquired, "open: %s: call gpu.Acquire first", h.Name())
	}
	return w, nil
}
