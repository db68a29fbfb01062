package bad

import (
	"errors"

	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// page has a region, and is found in maps, slices and channels.
type page struct {
	r     *barewire.Region[sample.Tick, barewire.CPU, barewire.Unregistered]
	spare *barewire.Region[sample.Tick, barewire.CPU, barewire.Unregistered]
}

func (p *page) close() error { return p.r.Close() }

func BadFieldsMap(all map[string]*page, name string) (int, error) {
	p := all[name]
	if err := p.r.Close(); err != nil {
		return 0, err
	}
	delete(all, name)
	_, err := barewire.Backing(p.r) // want "BW5101 .p.r. .* is used after Close"
	return 0, err
}

func BadFieldsTwice(all []*page, i int) error {
	p := all[i]
	return errors.Join(p.r.Close(), p.r.Close()) // want "BW5102 .p.r. .* is ended by Close, and was ended by Close before"
}

func BadFieldsMethod(in <-chan *page) error {
	p := <-in
	if err := p.close(); err != nil {
		return err
	}
	return p.close() // want "BW5102 .p.r."
}

func BadFieldsRange(all map[string]*page) (err error) {
	for _, p := range all {
		err = errors.Join(err, p.r.Close(), p.spare.Close(), p.r.Close()) // want "BW5102 .p.r."
	}
	return err
}

func BadFieldsAny(v any) error {
	p, ok := v.(*page)
	if !ok {
		return nil
	}
	if err := p.spare.Close(); err != nil {
		return err
	}
	return errors.Join(p.r.Close(), p.spare.Close()) // want "BW5102 .p.spare."
}
