// Package later stands for what a runtime for GPUs, CXL and NUMA has: memory whose rules directives declare. Nothing in it
// does anything; it is what programs that are looked at call.
//
//barewire:trust the bodies do nothing
package later

import (
	"context"
	"errors"
)

// Managed is memory that a GPU's driver moves to and fro. The host may touch it between Acquire and Release.
//
//barewire:type handle
type Managed struct{ elements []float32 }

// NewManaged allocates n elements.
//
//barewire:effect fresh=0 on ok
func NewManaged(n int) (*Managed, error) {
	if n <= 0 {
		return nil, errors.New("no elements")
	}
	return &Managed{make([]float32, n)}, nil
}

// Acquire waits until no kernel runs on m, and brings it to the host.
//
//barewire:effect acquires=m on ok
func (m *Managed) Acquire(ctx context.Context) error { return ctx.Err() }

// Release gives m to the GPU again.
//
//barewire:effect yields=m
func (m *Managed) Release() error { return nil }

// Kernel starts a kernel on m, which the host must not have.
//
//barewire:effect excludes=m
func (m *Managed) Kernel() error { return nil }

// View is m's memory, until it is released.
//
//barewire:effect needs=m, views=0 of m at all
func (m *Managed) View() []float32 { return m.elements }

// Close frees m.
//
//barewire:effect releases=m on ok
func (m *Managed) Close() error { return nil }

// Shared is CXL memory that several hosts see, without coherence: what is written has to be flushed before another host
// is told.
//
//barewire:type handle
type Shared struct{ words []uint64 }

// Map maps the memory with a name.
//
//barewire:effect fresh=0 on ok
func Map(name string) (*Shared, error) {
	if name == "" {
		return nil, errors.New("no name")
	}
	return &Shared{make([]uint64, 8)}, nil
}

// Lock makes this host the only one that uses s, and drops what its caches have of it.
//
//barewire:effect acquires=s on ok
func (s *Shared) Lock(ctx context.Context) error { return ctx.Err() }

// Unlock lets other hosts have it.
//
//barewire:effect hands=s, yields=s
func (s *Shared) Unlock() error { return nil }

// Words are the memory, while s is locked.
//
//barewire:effect needs=s, views=0 of s at all
func (s *Shared) Words() []uint64 { return s.words }

// Flush writes back what this host wrote.
//
//barewire:effect cleans=s
func (s *Shared) Flush() error { return nil }

// Close unmaps it.
//
//barewire:effect releases=s on ok
func (s *Shared) Close() error { return nil }

// Stream is a queue of a GPU.
type Stream struct{ n int }

// Synchronize returns when all that was given to s has completed.
//
//barewire:effect flushes=s
func (s *Stream) Synchronize(ctx context.Context) error { return ctx.Err() }

// Pending is a copy or a kernel that runs.
//
//barewire:type op
type Pending struct{ n int }

// Wait waits until it has completed.
//
//barewire:effect waits=p
func (p Pending) Wait(ctx context.Context) error { return ctx.Err() }

// Unified is memory that the host and the GPU reach.
//
//barewire:type handle
type Unified struct{ elements []float32 }

// NewUnified allocates n elements.
//
//barewire:effect fresh=0 on ok
func NewUnified(n int) (*Unified, error) { return &Unified{make([]float32, n)}, nil }

// Elements are its memory.
//
//barewire:effect views=0 of u at all
func (u *Unified) Elements() []float32 { return u.elements }

// Close frees it.
//
//barewire:effect releases=u on ok
func (u *Unified) Close() error { return nil }

// Buffer is memory of a GPU.
//
//barewire:type handle
type Buffer struct{ n int }

// NewBuffer allocates n elements.
//
//barewire:effect fresh=0 on ok
func NewBuffer(n int) (*Buffer, error) { return &Buffer{n}, nil }

// Close frees it.
//
//barewire:effect releases=b on ok
func (b *Buffer) Close() error { return nil }

// Launch starts a kernel that writes u.
//
//barewire:effect fills=0 of u at all on ok, fresh=0 on ok
func (s *Stream) Launch(u *Unified) (Pending, error) { return Pending{s.n}, nil }

// ToHost starts a copy to a slice of the host's.
//
//barewire:effect fills=0 of dst on ok, starts=0 of src on ok, fresh=0 on ok
func (s *Stream) ToHost(dst []float32, src *Buffer) (Pending, error) { return Pending{s.n}, nil }

// FromPinned starts a copy from memory that both reach.
//
//barewire:effect starts=0 of src at all on ok, fresh=0 on ok
func (s *Stream) FromPinned(dst *Buffer, src *Unified) (Pending, error) { return Pending{s.n}, nil }
