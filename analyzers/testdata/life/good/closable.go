package good

import (
	"errors"
	"io"
	"log"
	"os"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
)

// These close by helpers that know an interface, a type parameter or a slice only.

func closeAndLog(c io.Closer) {
	if err := c.Close(); err != nil {
		log.Print(err)
	}
}

func closeInto(err *error, c io.Closer) { *err = errors.Join(*err, c.Close()) }

func closeAll(cs ...io.Closer) (err error) {
	for _, c := range cs {
		err = errors.Join(err, c.Close())
	}
	return err
}

func firstFailure(cs []io.Closer) error {
	for _, c := range cs {
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

func closeSome(ms ...*M) {
	for i, m := range ms {
		if i > 0 {
			m.Close()
		}
	}
}

func closeWhen[T interface{ Close() error }](c T, really bool) error {
	if !really {
		return nil
	}
	return c.Close()
}

func GoodClosedByHelper(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer closeAndLog(m)
	return use(m)
}

func use(m *M) error { _ = m.Span(0, 1); return nil }

func GoodClosedInto(dom *rdma.Domain) (err error) {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer closeInto(&err, m)
	return use(m)
}

// GoodClosedAgainIfFailed tries once more where it failed.
func GoodClosedAgainIfFailed(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if err := closeAll(m); err != nil {
		return m.Close()
	}
	return nil
}

func GoodClosedTogether(dom *rdma.Domain) (err error) {
	a, err := help.Open(dom)
	if err != nil {
		return err
	}
	b, err := help.Open(dom)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	return closeAll(a, b)
}

// GoodFirstFailure closes what may have been left.
func GoodFirstFailure(dom *rdma.Domain) error {
	a, err := help.Open(dom)
	if err != nil {
		return err
	}
	b, err := help.Open(dom)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	if err := firstFailure([]io.Closer{a, b}); err != nil {
		return errors.Join(err, b.Close())
	}
	return nil
}

func GoodClosedSome(dom *rdma.Domain) error {
	a, err := help.Open(dom)
	if err != nil {
		return err
	}
	b, err := help.Open(dom)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	closeSome(a, b)
	return a.Close()
}

func GoodClosedIf(dom *rdma.Domain, early bool) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if err := closeWhen(m, early); err != nil {
		return err
	}
	if early {
		return nil
	}
	return m.Close()
}

// GoodFileTwice is about files: they are not ours.
func GoodFileTwice(f *os.File, c io.Closer) error {
	closeAndLog(f)
	closeAndLog(f)
	if err := c.Close(); err != nil {
		return err
	}
	return c.Close()
}

// pooled is no handle, though it has Close: that gives it back.
type pooled struct {
	m    *M
	home chan *M
}

func (p pooled) Close() error { p.home <- p.m; return nil }

func GoodPooled(home chan *M) error {
	m := <-home
	p := pooled{m, home}
	closeAndLog(p)
	return nil
}
