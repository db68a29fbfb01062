package misuse

import (
	"context"
	"errors"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/later"
)

// BadMemory11OtherStream copies in one stream, and has a kernel of another read what is there meanwhile.
func BadMemory11OtherStream(b *later.Buffer, batch []float32) error {
	copies, err := later.NewOrder()
	if err != nil {
		return err
	}
	kernels, err := later.NewOrder()
	if err != nil {
		return err
	}
	in, err := copies.CopyIn(b, batch)
	if err != nil {
		return err
	}
	return errors.Join(kernels.Kernel(in), in.Close()) // want "BW5116 .in. .* is used with .kernels. .*, which belongs to another domain"
}

// BadMemory11OwnStream has a stream of its own for the kernel.
func BadMemory11OwnStream(in *later.Ordered) error {
	fast, err := later.NewOrder()
	if err != nil {
		return err
	}
	return fast.Kernel(in) // want "BW5116 .in. .* is used with .fast. .*, which belongs to another domain"
}

func GoodMemory11SameStream(o *later.Order, b *later.Buffer, batch []float32) error {
	in, err := o.CopyIn(b, batch)
	if err != nil {
		return err
	}
	return errors.Join(o.Kernel(in), in.Close())
}

func GoodMemory11Waits(b *later.Buffer, batch []float32) error {
	copies, err := later.NewOrder()
	if err != nil {
		return err
	}
	kernels, err := later.NewOrder()
	if err != nil {
		return err
	}
	in, err := copies.CopyIn(b, batch)
	if err != nil {
		return err
	}
	ready, err := kernels.After(in)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	return errors.Join(kernels.Kernel(ready), ready.Close())
}

// BadMemory21NotUploaded has the kernel work on what was there before.
func BadMemory21NotUploaded(ctx context.Context, m *later.Mirrored, scale float32) error {
	if err := m.Download(ctx); err != nil {
		return err
	}
	host := m.Host()
	for i := range host {
		host[i] *= scale
	}
	return m.Run() // want "BW5118 .m. .* is handed over by Run, and what was written to it is not written back"
}

// BadMemory21NotDownloaded sums what was there before the kernel.
func BadMemory21NotDownloaded(ctx context.Context, n int) (sum float32, err error) {
	m, err := later.NewMirrored(n)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if err := m.Download(ctx); err != nil {
		return 0, err
	}
	m.Host()[0] = 1
	if err := errors.Join(m.Upload(ctx), m.Run()); err != nil {
		return 0, err
	}
	for _, x := range m.Host() { // want "BW5117 memory of .m. .* is asked for after Run"
		sum += x
	}
	return sum, nil
}

func GoodMemory21InSync(ctx context.Context, n int) (sum float32, err error) {
	m, err := later.NewMirrored(n)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	for range 3 {
		if err := m.Download(ctx); err != nil {
			return 0, err
		}
		m.Host()[0]++
		if err := m.Upload(ctx); err != nil {
			return 0, err
		}
		if err := m.Run(); err != nil {
			return 0, err
		}
	}
	if err := m.Download(ctx); err != nil {
		return 0, err
	}
	for _, x := range m.Host() {
		sum += x
	}
	return sum, nil
}

// BadMemory25TouchedFirst has the pages on whatever node it runs on.
func BadMemory25TouchedFirst(n, node int) (*later.Pages, error) {
	p, err := later.MapPages(n)
	if err != nil {
		return nil, err
	}
	clear(p.Words()) // want "BW5117 memory of .p. .* is asked for before it was acquired"
	if err := p.Bind(node); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// BadMemory25LockedFirst pins them there.
func BadMemory25LockedFirst(n, node int) (_ *later.Pages, err error) {
	p, err := later.MapPages(n)
	if err != nil {
		return nil, err
	}
	if err := p.Lock(); err != nil { // want "BW5117 memory of .p. .* is asked for before it was acquired"
		return nil, errors.Join(err, p.Close())
	}
	if err := p.Bind(node); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func GoodMemory25BoundFirst(n, node int) (*later.Pages, error) {
	p, err := later.MapPages(n)
	if err != nil {
		return nil, err
	}
	if err := p.Bind(node); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	clear(p.Words())
	if err := p.Lock(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}
