// Package devices uses memory of GPUs, CXL devices and NUMA nodes, right and wrong.
package devices

import (
	"context"
	"errors"
	"sync"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/later"
)

func GoodManaged(ctx context.Context, m *later.Managed) (float32, error) {
	if err := m.Acquire(ctx); err != nil {
		return 0, err
	}
	v := m.View()
	v[0] = 1
	sum := v[0] + v[1]
	return sum, m.Release()
}

func GoodManagedDeferred(ctx context.Context, m *later.Managed) (_ float32, err error) {
	if err := m.Acquire(ctx); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Release()) }()
	return m.View()[0], nil
}

// GoodManagedCaller is called with m acquired.
func GoodManagedCaller(m *later.Managed) float32 { return m.View()[0] }

func GoodManagedTwice(ctx context.Context, n int) (err error) {
	m, err := later.NewManaged(n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	for i := range 2 {
		if err := m.Acquire(ctx); err != nil {
			return err
		}
		m.View()[i] = float32(i)
		if err := m.Release(); err != nil {
			return err
		}
	}
	return nil
}

func acquired(ctx context.Context, n int) (*later.Managed, error) {
	m, err := later.NewManaged(n)
	if err != nil {
		return nil, err
	}
	if err := m.Acquire(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func GoodManagedHelper(ctx context.Context) (float32, error) {
	m, err := acquired(ctx, 8)
	if err != nil {
		return 0, err
	}
	x := m.View()[3]
	return x, errors.Join(m.Release(), m.Close())
}

func with(ctx context.Context, m *later.Managed, f func([]float32)) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	f(m.View())
	return m.Release()
}

func GoodManagedWith(ctx context.Context, m *later.Managed) (x float32, err error) {
	err = with(ctx, m, func(v []float32) { x = v[0] })
	return x, err
}

func BadManagedNeverAcquired(n int) (float32, error) {
	m, err := later.NewManaged(n)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	return m.View()[0], nil // want "BW5117 memory of .m. .* is asked for before it was acquired"
}

func BadManagedAfterRelease(ctx context.Context, m *later.Managed) (float32, error) {
	if err := m.Acquire(ctx); err != nil {
		return 0, err
	}
	v := m.View()
	if err := m.Release(); err != nil {
		return 0, err
	}
	return v[0], nil // want "BW5117 a view of it .* is used after Release of .m."
}

func BadManagedStore(ctx context.Context, m *later.Managed) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	v := m.View()
	err := m.Release()
	v[1] = 2 // want "BW5117 a view of it .* is used after Release of .m."
	return err
}

func BadManagedAgain(ctx context.Context, m *later.Managed) (float32, error) {
	if err := m.Acquire(ctx); err != nil {
		return 0, err
	}
	if err := m.Release(); err != nil {
		return 0, err
	}
	return m.View()[0], nil // want "BW5117 memory of .m. .* is asked for after Release"
}

func first(m *later.Managed) float32 { return m.View()[0] }

func BadManagedHelper(n int) (float32, error) {
	m, err := later.NewManaged(n)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	return first(m), nil // want "BW5117 memory of .m. .* is asked for before it was acquired"
}

func release(m *later.Managed) { _ = m.Release() }

func BadManagedHelperReleases(ctx context.Context, m *later.Managed) (float32, error) {
	if err := m.Acquire(ctx); err != nil {
		return 0, err
	}
	v := m.View()
	release(m)
	return v[0], nil // want "BW5117 a view of it .* is used after release of .m."
}

func GoodShared(ctx context.Context, s *later.Shared) error {
	if err := s.Lock(ctx); err != nil {
		return err
	}
	s.Words()[0]++
	if err := s.Flush(); err != nil {
		return errors.Join(err, s.Unlock())
	}
	return s.Unlock()
}

func GoodSharedRead(ctx context.Context, s *later.Shared) (uint64, error) {
	if err := s.Lock(ctx); err != nil {
		return 0, err
	}
	x := s.Words()[0]
	return x, s.Unlock()
}

func put(words []uint64, x uint64) { words[0] = x }

func GoodSharedHelper(ctx context.Context, s *later.Shared) error {
	if err := s.Lock(ctx); err != nil {
		return err
	}
	put(s.Words(), 1)
	return errors.Join(s.Flush(), s.Unlock())
}

func BadSharedUnflushed(ctx context.Context, s *later.Shared) error {
	if err := s.Lock(ctx); err != nil {
		return err
	}
	w := s.Words()
	w[0] = 1
	return s.Unlock() // want "BW5118 .s. .* is handed over by Unlock, and what was written to it is not written back"
}

func BadSharedFlushedBefore(ctx context.Context, s *later.Shared) error {
	if err := s.Lock(ctx); err != nil {
		return err
	}
	w := s.Words()
	w[0] = 1
	if err := s.Flush(); err != nil {
		return errors.Join(err, s.Unlock())
	}
	w[1] = 2
	return s.Unlock() // want "BW5118 .s. .* is handed over by Unlock, and what was written to it is not written back"
}

func BadSharedHelper(ctx context.Context, s *later.Shared) error {
	if err := s.Lock(ctx); err != nil {
		return err
	}
	put(s.Words(), 1)
	return s.Unlock() // want "BW5118 .s. .* is handed over by Unlock, and what was written to it is not written back"
}

func BadSharedAfterUnlock(ctx context.Context, s *later.Shared) (uint64, error) {
	if err := s.Lock(ctx); err != nil {
		return 0, err
	}
	w := s.Words()
	if err := s.Unlock(); err != nil {
		return 0, err
	}
	return w[0], nil // want "BW5117 a view of it .* is used after Unlock of .s."
}

func GoodKernel(ctx context.Context, st *later.Stream, u *later.Unified) (float32, error) {
	p, err := st.Launch(u)
	if err != nil {
		return 0, err
	}
	if err := p.Wait(ctx); err != nil {
		return 0, err
	}
	return u.Elements()[0], nil
}

func GoodKernelStream(ctx context.Context, st *later.Stream, u *later.Unified) (float32, error) {
	if _, err := st.Launch(u); err != nil {
		return 0, err
	}
	if err := st.Synchronize(ctx); err != nil {
		return 0, err
	}
	return u.Elements()[0], nil
}

func BadKernelRead(ctx context.Context, st *later.Stream, u *later.Unified) (float32, error) {
	p, err := st.Launch(u)
	if err != nil {
		return 0, err
	}
	x := u.Elements()[0] // want "BW5114 memory of .u. .* is read while an operation that writes it is in flight"
	return x, p.Wait(ctx)
}

func BadKernelNoSync(st *later.Stream, u *later.Unified) (float32, error) {
	if _, err := st.Launch(u); err != nil {
		return 0, err
	}
	return u.Elements()[0], nil // want "BW5114 memory of .u. .* is read while an operation that writes it is in flight"
}

func GoodToHost(ctx context.Context, st *later.Stream, b *later.Buffer, n int) ([]float32, error) {
	dst := make([]float32, n)
	p, err := st.ToHost(dst, b)
	if err != nil {
		return nil, err
	}
	if err := p.Wait(ctx); err != nil {
		return nil, err
	}
	return dst[:n/2], nil
}

func GoodToHostOther(ctx context.Context, st *later.Stream, b *later.Buffer, dst, other []float32) (float32, error) {
	p, err := st.ToHost(dst, b)
	if err != nil {
		return 0, err
	}
	x := other[0]
	if err := p.Wait(ctx); err != nil {
		return 0, err
	}
	return x + dst[0], nil
}

func BadToHostEarly(ctx context.Context, st *later.Stream, b *later.Buffer, n int) (float32, error) {
	dst := make([]float32, n)
	p, err := st.ToHost(dst, b)
	if err != nil {
		return 0, err
	}
	x := dst[0] // want "BW5114 what .p. .* fills is read while it is in flight"
	return x, p.Wait(ctx)
}

func BadToHostSum(ctx context.Context, st *later.Stream, b *later.Buffer, dst []float32) (sum float32, err error) {
	p, err := st.ToHost(dst, b)
	if err != nil {
		return 0, err
	}
	for _, x := range dst {
		sum += x // want "BW5114 what .p. .* fills is read while it is in flight"
	}
	return sum, p.Wait(ctx)
}

func BadPinnedReused(ctx context.Context, st *later.Stream, b *later.Buffer, u *later.Unified) error {
	p, err := st.FromPinned(b, u)
	if err != nil {
		return err
	}
	u.Elements()[0] = 1 // want "BW5114 memory of .u. .* is written while an operation that reads it is in flight"
	return p.Wait(ctx)
}

func BadPinnedFreed(ctx context.Context, st *later.Stream, b *later.Buffer, u *later.Unified) error {
	p, err := st.FromPinned(b, u)
	if err != nil {
		return err
	}
	return errors.Join(u.Close(), p.Wait(ctx)) // want "BW5108 .u. .* is ended by Close while an operation on it is in flight"
}

func GoodNode(n int) (float32, error) {
	m, err := later.OnNode(n, 1)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	unpin, err := later.Pin(1)
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil
}

func GoodNodeUnknown(n, node int) (float32, error) {
	m, err := later.OnNode(n, node)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	unpin, err := later.Pin(1)
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil
}

// GoodNodeBefore touches it before it is pinned elsewhere.
func GoodNodeBefore(n int) (float32, error) {
	m, err := later.OnNode(n, 0)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	x := m.Elements()[0]
	unpin, err := later.Pin(1)
	if err != nil {
		return 0, err
	}
	defer unpin()
	return x, nil
}

func GoodNodeUnpinned(n int) (float32, error) {
	m, err := later.OnNode(n, 0)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	unpin, err := later.Pin(1)
	if err != nil {
		return 0, err
	}
	unpin()
	return m.Elements()[0], nil
}

func GoodNodeWorkers(n int) error {
	m, err := later.OnNode(n, 0)
	if err != nil {
		return err
	}
	defer m.Close()
	var wg sync.WaitGroup
	wg.Go(func() {
		unpin, err := later.Pin(0)
		if err != nil {
			return
		}
		defer unpin()
		m.Elements()[0] = 1
	})
	wg.Wait()
	return nil
}

func BadNode(n int) (float32, error) {
	m, err := later.OnNode(n, 0)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	unpin, err := later.Pin(1)
	if err != nil {
		return 0, err
	}
	defer unpin()
	return m.Elements()[0], nil // want "BW5119 memory of .m. .* on node 0 is touched by a goroutine that is pinned to node 1"
}

func fill(v []float32) { clear(v) }

func BadNodeWorker(n int) error {
	m, err := later.OnNode(n, 0)
	if err != nil {
		return err
	}
	defer m.Close()
	var wg sync.WaitGroup
	wg.Go(func() {
		unpin, err := later.Pin(1)
		if err != nil {
			return
		}
		defer unpin()
		fill(m.Elements()) // want "BW5119 memory of .m. .* on node 0 is touched by a goroutine that is pinned to node 1"
	})
	wg.Wait()
	return nil
}

// GoodManagedBegin leaves it acquired for its callers, where all goes well.
func GoodManagedBegin(ctx context.Context, m *later.Managed, n int) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	if n > len(m.View()) {
		return errors.Join(errors.New("too many"), m.Release())
	}
	return nil
}

// GoodManagedBeginOr leaves it acquired whatever happens.
func GoodManagedBeginOr(ctx context.Context, m *later.Managed, n int) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	if n > len(m.View()) {
		return errors.New("too many")
	}
	return nil
}

// GoodManagedOnce is called by who has it acquired, or not.
func GoodManagedOnce(ctx context.Context, m *later.Managed, has bool) error {
	if !has {
		if err := m.Acquire(ctx); err != nil {
			return err
		}
	}
	m.View()[0] = 1
	if has {
		return nil
	}
	return m.Release()
}

// GoodManagedRetry tries again where it was too early.
func GoodManagedRetry(ctx context.Context, m *later.Managed, ready func([]float32) bool) error {
	for range 3 {
		if err := m.Acquire(ctx); err != nil {
			return err
		}
		ok := ready(m.View())
		if err := m.Release(); err != nil {
			return err
		}
		if ok {
			return nil
		}
	}
	return errors.New("never ready")
}

// GoodManagedJoined releases it beside what failed.
func GoodManagedJoined(ctx context.Context, m *later.Managed, f func([]float32) error) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	err := f(m.View())
	return errors.Join(err, m.Release())
}

// GoodManagedClosed closes it where something fails, which releases it.
func GoodManagedClosed(ctx context.Context, m *later.Managed, f func([]float32) error) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	if err := f(m.View()); err != nil {
		return errors.Join(err, m.Close())
	}
	return m.Release()
}

// turns has memory that it acquires, and notes that.
type turns struct {
	m   *later.Managed
	has bool
}

func (t *turns) GoodManagedTurn(ctx context.Context) error {
	if t.has {
		t.has = false
		return t.m.Release()
	}
	if err := t.m.Acquire(ctx); err != nil {
		return err
	}
	t.has = true
	return nil
}

func BadManagedLeftOnError(ctx context.Context, m *later.Managed, f func([]float32) error) error {
	if err := m.Acquire(ctx); err != nil { // want "BW5121 .m. .* is acquired, and not released on every path"
		return err
	}
	if err := f(m.View()); err != nil {
		return err
	}
	return m.Release()
}

func (t *turns) BadManagedFieldLeft(ctx context.Context, n int) error {
	if err := t.m.Acquire(ctx); err != nil { // want "BW5121 .t.m. .* is acquired, and not released on every path"
		return err
	}
	v := t.m.View()
	if n > len(v) {
		return errors.New("too many")
	}
	clear(v[:n])
	return t.m.Release()
}

func BadManagedLoopLeft(ctx context.Context, list []*later.Managed, m *later.Managed, f func([]float32) error) error {
	for range list {
		if err := m.Acquire(ctx); err != nil { // want "BW5121 .m. .* is acquired, and not released on every path"
			return err
		}
		if err := f(m.View()); err != nil {
			return err
		}
		if err := m.Release(); err != nil {
			return err
		}
	}
	return nil
}

func BadManagedBegun(ctx context.Context, m *later.Managed, n, k int) error {
	if err := GoodManagedBegin(ctx, m, n); err != nil { // want "BW5121 .m. .* is acquired, and not released on every path"
		return err
	}
	if k >= len(m.View()) {
		return errors.New("no such element")
	}
	m.View()[k] = 1
	return m.Release()
}

func GoodKernelAfterRelease(ctx context.Context, m *later.Managed) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	m.View()[0] = 1
	if err := m.Release(); err != nil {
		return err
	}
	return m.Kernel()
}

// GoodKernelOfOther has another's memory acquired.
func GoodKernelOfOther(ctx context.Context, m, other *later.Managed) error {
	if err := other.Acquire(ctx); err != nil {
		return err
	}
	return errors.Join(m.Kernel(), other.Release())
}

// GoodKernelRefused is to see that it is refused.
func GoodKernelRefused(ctx context.Context, m *later.Managed) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	if err := m.Kernel(); !errors.Is(err, errHostHas) {
		return errors.Join(err, m.Release())
	}
	return m.Release()
}

var errHostHas = errors.New("the host has it")

// launchIf starts a kernel on what is large enough.
func launchIf(m *later.Managed, n int) error {
	if n < 64 {
		return nil
	}
	return m.Kernel()
}

// GoodKernelMaybe has acquired what is too small.
func GoodKernelMaybe(ctx context.Context, m *later.Managed) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	return errors.Join(launchIf(m, 8), m.Release())
}

// GoodKernelGoroutine gives it to somebody who releases it.
func GoodKernelGoroutine(ctx context.Context, m *later.Managed, release func(*later.Managed)) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	m.View()[0] = 1
	release(m)
	return m.Kernel()
}

func BadKernelAcquired(ctx context.Context, m *later.Managed) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	m.View()[0] = 1
	return errors.Join(m.Kernel(), m.Release()) // want "BW5122 .m. .* is given to Kernel while the host has it acquired"
}

func BadKernelDeferred(ctx context.Context, m *later.Managed) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	defer m.Release()
	m.View()[0] = 1
	return m.Kernel() // want "BW5122 .m. .* is given to Kernel while the host has it acquired"
}

func launch(m *later.Managed) error {
	return m.Kernel()
}

func BadKernelHelper(ctx context.Context, m *later.Managed) error {
	if err := m.Acquire(ctx); err != nil {
		return err
	}
	return errors.Join(launch(m), m.Release()) // want "BW5122 .m. .* is given to launch while the host has it acquired"
}

func (t *turns) BadKernelField(ctx context.Context) error {
	if err := t.m.Acquire(ctx); err != nil {
		return err
	}
	return errors.Join(t.m.Kernel(), t.m.Release()) // want "BW5122 .t.m. .* is given to Kernel while the host has it acquired"
}
