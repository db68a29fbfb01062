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
