package good

import (
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
)

// These ask for something twice, and are right if the answer is the same.

type settings struct {
	Keep, Early bool
	Name        string
	Retries     int
}

// GoodConfigFlag has its flags out of a file.
func GoodConfigFlag(dom *rdma.Domain, data []byte) (*M, error) {
	var cfg settings
	if err := json.Unmarshal(data, &cfg); err != nil {
		return nil, err
	}
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	if cfg.Early {
		if err := m.Close(); err != nil {
			return nil, err
		}
	}
	note(&cfg)
	if !cfg.Early {
		return m, nil
	}
	return nil, nil
}

func note(*settings) {}

func decide(names []string, early *bool) {
	for _, n := range names {
		if n == "early" {
			*early = true
		}
	}
}

// GoodFlagByPointer has a helper that sets its flag.
func GoodFlagByPointer(dom *rdma.Domain, names []string) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	var early bool
	decide(names, &early)
	if early {
		if err := m.Close(); err != nil {
			return err
		}
	}
	decide(nil, &early)
	if early {
		return nil
	}
	return m.Close()
}

var verbose, late bool

// GoodGlobalFlag asks a variable of the package.
func GoodGlobalFlag(dom *rdma.Domain, f func()) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if !late {
		if err := m.Close(); err != nil {
			return err
		}
	}
	f()
	if late {
		return m.Close()
	}
	return nil
}

// GoodPrefix asks the standard library.
func GoodPrefix(dom *rdma.Domain, cfg *settings) error {
	var m *M
	if strings.HasPrefix(cfg.Name, "x") {
		var err error
		if m, err = help.Open(dom); err != nil {
			return err
		}
	}
	note(cfg)
	if strings.HasPrefix(cfg.Name, "x") {
		return m.Close()
	}
	return nil
}

// guarded asks under a lock.
type guarded struct {
	mu   sync.Mutex
	open int
	down atomic.Bool
}

func (g *guarded) any() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open > 0
}

func GoodUnderLock(dom *rdma.Domain, g *guarded) error {
	var m *M
	if g.any() {
		var err error
		if m, err = help.Open(dom); err != nil {
			return err
		}
	}
	if !g.any() {
		return nil
	}
	return m.Close()
}

func GoodAtomicFlag(dom *rdma.Domain, g *guarded) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if g.down.Load() {
		if err := m.Close(); err != nil {
			return err
		}
	}
	if verbose {
		note(nil)
	}
	if g.down.Load() {
		return nil
	}
	return m.Close()
}

// owner has a flag beside the handle, which methods change.
type owner struct {
	m     *M
	owned bool
	uses  int
}

func (o *owner) touch()   { o.uses++ }
func (o *owner) disown()  { o.owned = false }
func (o *owner) ok() bool { return o.owned && o.uses > 0 }

func (o *owner) finish() error {
	if o.owned {
		o.owned = false
		return o.m.Close()
	}
	return nil
}

// GoodOwnerHere has the flag from methods that are not looked into here.
func GoodOwnerHere(dom *rdma.Domain, each func(*owner)) (err error) {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	o := &owner{m: m, owned: true}
	o.touch()
	each(o)
	if o.owned {
		return o.m.Close()
	}
	return nil
}

func GoodOwnerDisowns(dom *rdma.Domain, keep bool) (_ *M, err error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	o := &owner{m: m, owned: true}
	defer o.finish()
	o.touch()
	if keep && o.ok() {
		o.disown()
		return m, nil
	}
	return nil, nil
}

// GoodOwnerAsked closes it by hand where it is owned.
func GoodOwnerAsked(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	o := &owner{m: m, owned: true}
	o.touch()
	if o.owned {
		return m.Close()
	}
	return nil
}

// GoodPrintsNone prints what was not made, and what is closed.
func GoodPrintsNone(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		fmt.Println("no region:", m, err)
		return err
	}
	err = m.Close()
	log.Printf("%v is closed: %v", m, err)
	return err
}
