// Package bad has wrong functions of many kinds: each says what is to be found, and where.
package bad

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// What most functions here are about.
type (
	M   = help.M
	U   = sample.TickCPU[barewire.Unregistered]
	UW  = sample.TickWindow[barewire.Unregistered]
	L   = sample.TickCPU[barewire.Local]
	Rem = sample.TickRemote[barewire.RemoteReadWrite]
)

// BadNamedResult closes nothing: return nil sets m, which the deferred function looks at.
func BadNamedResult(dom *rdma.Domain) (m *M, err error) {
	m, err = help.Open(dom) // want "BW5104 .m. .* is not released on every path"
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	if m.Len() < 2 {
		return nil, fmt.Errorf("%d are too few", m.Len())
	}
	return m, nil
}

func BadNamedResultFlag(dom *rdma.Domain) (m *M, err error) {
	m, err = help.Open(dom) // want "BW5104 .m. .* is not released on every path"
	if err != nil {
		return nil, err
	}
	ok := false
	defer func() {
		if !ok {
			m.Close()
		}
	}()
	if m.Len() < 2 {
		return nil, errors.New("too small")
	}
	ok = true
	return m, nil
}

func BadRegisterFails(dom *rdma.Domain) (*M, error) {
	r, err := barewire.New(sample.TickInCPU(), 8) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return nil, err
	}
	return rdma.Register(dom, r, sample.TickRemoteRead())
}

func BadRegisterFailsChecked(dom *rdma.Domain) error {
	r, err := barewire.New(sample.TickInCPU(), 8) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return err
	}
	m, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return err
	}
	defer m.Close()
	return nil
}

func BadUseMoved(dom *rdma.Domain) error {
	r, err := barewire.New(sample.TickInCPU(), 8)
	if err != nil {
		return err
	}
	m, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return errors.Join(err, r.Close())
	}
	defer m.Close()
	return barewire.With(r, func(w UW) error { return nil }) // want "BW5103 .r. .* is used after Register"
}

func BadCloseMoved(dom *rdma.Domain) error {
	r, err := barewire.New(sample.TickInCPU(), 8)
	if err != nil {
		return err
	}
	defer r.Close() // want "BW5103 .r. .* is ended by Close, and was ended by Register before"
	m, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return err
	}
	return m.Close()
}

func BadRegisterTwice(dom, other *rdma.Domain, r *U) error {
	m, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return err
	}
	n, err := rdma.Register(other, r, sample.TickLocal()) // want "BW5103 .r. .* is ended by Register, and was ended by Register before"
	if err != nil {
		return errors.Join(err, m.Close())
	}
	return errors.Join(m.Close(), n.Close())
}

func BadUseDeregistered(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	span := m.Span(0, 1)
	r, err := rdma.Deregister(ctx, m)
	if err != nil {
		return err
	}
	defer r.Close()
	op, err := rdma.Read(c, span, rem) // want "BW5111 .m. .* has ended by Deregister, and a view of it .* is used"
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func BadDeregisterLeak(ctx context.Context, m *L) error {
	r, err := rdma.Deregister(ctx, m) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return err
	}
	fmt.Println(r.Len())
	return nil
}

func BadDiscarded(dom *rdma.Domain, r *U) {
	rdma.Register(dom, r, sample.TickLocal()) // want "BW5104 .what Register gives. .* is not released on every path"
}

func BadSiblingLeak(other *rdma.Domain, m *M) error {
	s, err := rdma.Also(other, m, sample.TickRemoteRead()) // want "BW5104 .s. .* is not released on every path"
	if err != nil {
		return err
	}
	_, err = rdma.RemoteOf(s)
	return err
}

func BadOpenAfterClose(m *M) error {
	if err := m.Close(); err != nil {
		return err
	}
	return barewire.With(m, func(w help.W) error { return nil }) // want "BW5101 .m. .* is used after Close"
}

func BadCloseInLoop(m *M, n int) {
	for range n {
		if err := m.Close(); err != nil { // want "BW5102 .m. .* is ended by Close, and was ended by Close before"
			return
		}
	}
}

func BadCloseBothBranches(m *M, really bool) error {
	if really {
		if err := m.Close(); err != nil {
			return err
		}
	}
	return m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by Close before"
}

func BadDeferAndReturn(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer func() {
		if err := m.Close(); err != nil { // want "BW5102 .m. .* is ended by Close, and was ended by Close before"
			log.Print(err)
		}
	}()
	return m.Close()
}

func BadErrorPath(ctx context.Context, c *rdma.Conn, dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		_ = rdma.Offer(ctx, c, "m", m) // want "BW5112 .m. .* is used where the call that makes it has failed, and it is nil"
		return err
	}
	return m.Close()
}

func BadSwitchLeak(dom *rdma.Domain, kind string) error {
	m, err := help.Open(dom) // want "BW5104 .m. .* is not released on every path"
	if err != nil {
		return err
	}
	switch kind {
	case "a":
		return m.Close()
	case "b":
		return errors.New("b is not for this")
	}
	return m.Close()
}

func BadContinueLeak(dom *rdma.Domain, names []string) error {
	for _, name := range names {
		m, err := help.Open(dom) // want "BW5104 .m. .* is not released on every path"
		if err != nil {
			return err
		}
		if name == "" {
			continue
		}
		if err := m.Close(); err != nil {
			return err
		}
	}
	return nil
}

func BadOverwritten(dom *rdma.Domain) error {
	m, err := help.Open(dom) // want "BW5104 .m. .* is not released on every path"
	if err != nil {
		return err
	}
	m, err = help.Open(dom)
	if err != nil {
		return err
	}
	return m.Close()
}

func BadSecondFails(dom *rdma.Domain) error {
	a, err := help.Open(dom) // want "BW5104 .a. .* is not released on every path"
	if err != nil {
		return err
	}
	b, err := help.Open(dom)
	if err != nil {
		return err
	}
	return errors.Join(a.Close(), b.Close())
}

type server struct {
	m *M
	u *U
}

func (s *server) BadCloseTwice() error {
	if err := s.m.Close(); err != nil {
		return err
	}
	return errors.Join(s.u.Close(), s.m.Close()) // want "BW5102 .s.m. .* is ended by Close, and was ended by Close before"
}

func (s *server) close() { s.m.Close() }

func (s *server) BadUseAfterMethod() int {
	s.close()
	return s.m.Span(0, 1).Len() // want "BW5101 .s.m. .* is used after close"
}

func BadFieldOfLocal(dom *rdma.Domain) error {
	var s server
	var err error
	if s.m, err = help.Open(dom); err != nil {
		return err
	}
	s.close()
	return s.m.Close() // want "BW5102 .s.m. .* is ended by Close, and was ended by close before"
}

func BadThroughInterface(m *M) error {
	var c interface{ Close() error } = m
	if err := c.Close(); err != nil {
		return err
	}
	return m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by Close before"
}

func BadMethodValue(m *M) {
	stop := m.Close
	defer stop() // want "BW5102 .m. .* is ended by Close, and was ended by Close before"
	if err := m.Close(); err != nil {
		panic(err)
	}
}

func BadCallback(m *M) {
	with(m, func(m *M) { m.Close() })
	fmt.Println(m.Span(0, 1)) // want "BW5101 .m. .* is used after Close"
}

func with(m *M, f func(*M)) { f(m) }

func BadClosureTwice(m *M) {
	stop := func() { m.Close() } // want "BW5102 .m. .* is ended by Close, and was ended by Close before"
	stop()
	stop()
}

func BadGeneric[A barewire.Registered](m *sample.TickCPU[A]) int {
	m.Close()
	return m.Span(0, 1).Len() // want "BW5101 .m. .* is used after Close"
}

func BadHelperChain(dom *rdma.Domain) error {
	m := help.Must(dom)
	help.DropDeep(m)
	return m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by DropDeep before"
}

func BadMustLeak(dom *rdma.Domain) int {
	m := help.Must(dom) // want "BW5104 .m. .* is not released on every path"
	return m.Len()
}

func BadTestLeak(t *testing.T, dom *rdma.Domain) {
	m, err := help.Open(dom) // want "BW5104 .m. .* is not released on every path"
	if err != nil {
		t.Fatal(err)
	}
	if m.Len() != 8 {
		t.Errorf("%d", m.Len())
	}
}

func BadExitOnly(dom *rdma.Domain, code int) {
	m, err := help.Open(dom) // want "BW5104 .m. .* is not released on every path"
	if err != nil {
		os.Exit(1)
	}
	if code > 0 {
		m.Close()
		os.Exit(code)
	}
	fmt.Println(m)
}

func BadSwapped(dom *rdma.Domain) error {
	a := help.Must(dom) // want "BW5104 .a. .* is not released on every path"
	b := help.Must(dom)
	a, b = b, a
	if err := a.Close(); err != nil {
		return err
	}
	defer b.Close() // want "BW5102 .a. .* is ended by Close, and was ended by Close before"
	return b.Close()
}

func BadGoto(m *M, n int) {
again:
	fmt.Println(m.Span(0, 1)) // want "BW5101 .m. .* is used after Close"
	if err := m.Close(); err != nil {
		return
	}
	if n--; n > 0 {
		goto again
	}
}

func BadIterator(ms func(func(*M) bool), keep *M) {
	for m := range ms {
		fmt.Println(m.Len())
		keep.Close() // want "BW5102 .keep. .* is ended by Close, and was ended by Close before"
	}
	fmt.Println(keep.Span(0, 1)) // want "BW5101 .keep. .* is used after Close"
}
