package bad

import (
	"errors"
	"fmt"
	"io"
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

func BadFromMap(all map[string]*M) error {
	m := all["a"]
	if err := m.Close(); err != nil {
		return err
	}
	_, err := rdma.RemoteOf(m) // want "BW5101 .m. .* is used after Close"
	return err
}

func BadFromMapOk(all map[string]*M) error {
	m, ok := all["a"]
	if !ok {
		return nil
	}
	m.Close()
	return m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by Close before"
}

func BadFromSlice(all []*M) (err error) {
	for _, m := range all {
		err = errors.Join(err, m.Close())
		if err == nil {
			fmt.Println(m.Span(0, 1)) // want "BW5101 .the handle. .* is used after Close"
		}
	}
	return err
}

func BadFromSliceMoved(dom *rdma.Domain, all []*U) (ms []*M, err error) {
	for _, r := range all {
		m, err := rdma.Register(dom, r, sample.TickRemoteRead())
		if err != nil {
			return ms, err
		}
		ms = append(ms, m)
		if err := barewire.With(r, func(w UW) error { return nil }); err != nil { // want "BW5103 .the handle. .* is used after Register"
			return ms, err
		}
	}
	return ms, nil
}

func BadFromChannel(ch chan *M) {
	m := <-ch
	defer m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by Close before"
	m.Close()
}

func BadFromInterface(c io.Closer) int {
	m := c.(*M)
	m.Close()
	return m.Span(0, 1).Len() // want "BW5101 .m. .* is used after Close"
}

func BadFromSyncMap(all *sync.Map) {
	v, ok := all.Load("m")
	if !ok {
		return
	}
	m := v.(*M)
	help.Drop(m)
	help.Drop(m) // want "BW5102 .m. .* is ended by Drop, and was ended by Drop before"
}

func BadFromRange(all map[int]*M) {
	for i, m := range all {
		help.Drop(m)
		if i > 3 {
			help.Peek(m) // want "BW5101 .m. .* is used after Drop"
		}
	}
}

type pool struct{ free []*M }

func (p *pool) get() *M {
	m := p.free[0]
	p.free = p.free[1:]
	return m
}

func BadFromPool(p *pool) int {
	m := p.get()
	m.Close()
	return m.Span(0, 1).Len() // want "BW5101 .m. .* is used after Close"
}
