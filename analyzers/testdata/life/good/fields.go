package good

import (
	"context"
	"errors"
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type memory = barewire.Region[sample.Tick, barewire.CPU, barewire.Unregistered]

// page has a region, and is found in maps, slices and channels.
type page struct {
	mu    sync.Mutex
	r     *memory
	spare *memory
	next  *page
}

func (p *page) reopen() (err error) {
	p.r, err = barewire.New(sample.TickInCPU(), 8)
	return err
}

func (p *page) close() error { return p.r.Close() }

func GoodFieldsRange(all map[string]*page) (err error) {
	for _, p := range all {
		n := p.r.Len()
		err = errors.Join(err, p.r.Close())
		if n == 0 {
			break
		}
	}
	return err
}

func GoodFieldsReplaced(all map[string]*page, name string) (int, error) {
	p := all[name]
	if err := p.r.Close(); err != nil {
		return 0, err
	}
	r, err := barewire.New(sample.TickInCPU(), 8)
	if err != nil {
		return 0, err
	}
	p.r = r
	return p.r.Len(), nil
}

func GoodFieldsReopened(all map[string]*page, name string) (int, error) {
	p := all[name]
	if err := p.r.Close(); err != nil {
		return 0, err
	}
	if err := p.reopen(); err != nil {
		return 0, err
	}
	return p.r.Len(), nil
}

func GoodFieldsSwapped(all map[string]*page, name string) (int, error) {
	p := all[name]
	old := p.r
	p.r, p.spare = p.spare, nil
	if err := old.Close(); err != nil {
		return 0, err
	}
	return p.r.Len(), nil
}

func GoodFieldsNil(all []*page) (err error) {
	for i := range all {
		p := all[i]
		if p.r != nil {
			err = errors.Join(err, p.r.Close())
			p.r = nil
		}
		if p.r != nil {
			_ = p.r.Len()
		}
	}
	return err
}

func GoodFieldsElements(all []*page) (int, error) {
	if err := all[0].r.Close(); err != nil {
		return 0, err
	}
	return all[1].r.Len(), nil
}

func GoodFieldsLater(in <-chan *page) (n int, err error) {
	var p *page
	for range 4 {
		p = <-in
		n += p.r.Len()
		if err := p.close(); err != nil {
			return n, err
		}
	}
	return n, nil
}

func GoodFieldsList(first map[string]*page) (err error) {
	for p := first[""]; p != nil; p = p.next {
		_ = p.r.Len()
		err = errors.Join(err, p.r.Close())
	}
	return err
}

// GoodFieldsUnlocked leaves it to others meanwhile, who make a new one.
func GoodFieldsUnlocked(all map[string]*page, name string, wait func()) (int, error) {
	p := all[name]
	p.mu.Lock()
	err := p.r.Close()
	p.mu.Unlock()
	if err != nil {
		return 0, err
	}
	wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.r.Len(), nil
}

// GoodFieldsTold asks whoever opens it again, over a channel.
func GoodFieldsTold(ctx context.Context, all map[string]*page, closed chan<- *page, opened <-chan struct{}) (int, error) {
	p := all["a"]
	if err := p.r.Close(); err != nil {
		return 0, err
	}
	closed <- p
	select {
	case <-opened:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return p.r.Len(), nil
}

// pages are guarded as a whole.
type pages struct {
	mu  sync.Mutex
	all map[string]*page
}

// GoodFieldsGuarded has the map's lock, and not all the time.
func (t *pages) GoodFieldsGuarded(name string) (int, error) {
	t.mu.Lock()
	p := t.all[name]
	err := p.r.Close()
	t.mu.Unlock()
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.r.Len(), nil
}

func GoodFieldsAny(v any) (int, error) {
	p := v.(*page)
	n := p.r.Len()
	return n, errors.Join(p.r.Close(), p.spare.Close())
}

func GoodFieldsFound(all map[string]*page, names []string) (err error) {
	for _, name := range names {
		p, ok := all[name]
		if !ok {
			continue
		}
		if p.spare != nil {
			err = errors.Join(err, p.spare.Close())
		}
		err = errors.Join(err, p.r.Close())
		delete(all, name)
	}
	return err
}

func GoodFieldsRangeTwice(all map[string]*page) (err error) {
	for _, p := range all {
		err = errors.Join(err, p.spare.Close())
	}
	for _, p := range all {
		_ = p.r.Len()
		err = errors.Join(err, p.r.Close())
	}
	return err
}

func GoodFieldsDeferred(all map[string]*page, name string) (_ barewire.Back, err error) {
	p, ok := all[name]
	if !ok {
		return barewire.Back{}, errors.New("no such page")
	}
	defer func() { err = errors.Join(err, p.close()) }()
	return barewire.Backing(p.r)
}

// GoodFieldsClosed has a field that says whether it is closed.
func GoodFieldsClosed(all map[*page]bool, pages []*page) (err error) {
	for range 2 {
		for _, p := range pages {
			if !all[p] {
				all[p] = true
				err = errors.Join(err, p.r.Close())
			}
		}
	}
	return err
}
