package misuse

import (
	"context"
	"errors"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/later"
)

// BadMemory09ReadEarly copies results to a slice and looks at them at once.
func BadMemory09ReadEarly(ctx context.Context, st *later.Stream, b *later.Buffer, n int) (float32, error) {
	logits := make([]float32, n)
	p, err := st.ToHost(logits, b)
	if err != nil {
		return 0, err
	}
	best := logits[0] // want "BW5114 what .p. .* fills is read while it is in flight"
	return best, p.Wait(ctx)
}

func GoodMemory09Waits(ctx context.Context, st *later.Stream, b *later.Buffer, n int) (float32, error) {
	logits := make([]float32, n)
	if _, err := st.ToHost(logits, b); err != nil {
		return 0, err
	}
	if err := st.Synchronize(ctx); err != nil {
		return 0, err
	}
	return logits[0], nil
}

// BadMemory10PinnedReused stages the next batch in the memory that the last one is copied from.
func BadMemory10PinnedReused(ctx context.Context, st *later.Stream, b *later.Buffer, staging *later.Unified, batches [][]float32) error {
	for _, batch := range batches {
		copy(staging.Elements(), batch) // want "BW5114 memory of .staging. .* is written while an operation that reads it is in flight"
		if _, err := st.FromPinned(b, staging); err != nil {
			return err
		}
	}
	return st.Synchronize(ctx)
}

// BadMemory10PinnedFreed frees it.
func BadMemory10PinnedFreed(ctx context.Context, st *later.Stream, b *later.Buffer, batch []float32) error {
	staging, err := later.NewUnified(len(batch))
	if err != nil {
		return err
	}
	defer staging.Close() // want "BW5108 .staging. .* is ended by Close while an operation on it is in flight"
	copy(staging.Elements(), batch)
	_, err = st.FromPinned(b, staging)
	return err
}

func GoodMemory10Staged(ctx context.Context, st *later.Stream, b *later.Buffer, batches [][]float32) (err error) {
	staging, err := later.NewUnified(1 << 20)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, staging.Close()) }()
	for _, batch := range batches {
		copy(staging.Elements(), batch)
		p, err := st.FromPinned(b, staging)
		if err != nil {
			return err
		}
		if err := p.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// BadMemory12FreedUnderKernel frees what a kernel writes.
func BadMemory12FreedUnderKernel(st *later.Stream, n int) error {
	u, err := later.NewUnified(n)
	if err != nil {
		return err
	}
	if _, err := st.Launch(u); err != nil {
		return errors.Join(err, u.Close())
	}
	return u.Close() // want "BW5108 .u. .* is ended by Close while an operation on it is in flight"
}

func GoodMemory12Synchronized(ctx context.Context, st *later.Stream, n int) error {
	u, err := later.NewUnified(n)
	if err != nil {
		return err
	}
	if _, err := st.Launch(u); err != nil {
		return errors.Join(err, u.Close())
	}
	return errors.Join(st.Synchronize(ctx), u.Close())
}

// BadMemory15ManagedTouched prints what a kernel works on.
func BadMemory15ManagedTouched(ctx context.Context, m *later.Managed) (float32, error) {
	if err := m.Acquire(ctx); err != nil {
		return 0, err
	}
	weights := m.View()
	weights[0] = 1
	if err := m.Release(); err != nil { // the kernels go on
		return 0, err
	}
	return weights[0], nil // want "BW5117 a view of it .* is used after Release of .m."
}

// BadMemory34MissingFlush tells the other host before the words are in memory.
func BadMemory34MissingFlush(ctx context.Context, s *later.Shared, seq uint64) error {
	if err := s.Lock(ctx); err != nil {
		return err
	}
	s.Words()[1] = seq
	return s.Unlock() // want "BW5118 .s. .* is handed over by Unlock, and what was written to it is not written back"
}

func GoodMemory34Flushes(ctx context.Context, s *later.Shared, seq uint64) error {
	if err := s.Lock(ctx); err != nil {
		return err
	}
	s.Words()[1] = seq
	return errors.Join(s.Flush(), s.Unlock())
}
