package rdmatest

import (
	"context"
	"errors"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// or is an atomic or, on a device that has none, another request.
func (f *Factory) or(atomic, other rdma.WorkRequest) rdma.WorkRequest {
	if f.NoAtomics != "" {
		return other
	}
	return atomic
}

// grantable is rights without those that the device grants nobody.
func (f *Factory) grantable(rights barewire.Rights) barewire.Rights {
	if f.NoAtomics != "" {
		rights &^= atom
	}
	return rights
}

// noAtomics wants atomics refused before they are posted, and the right to them, both with the reason. It reports whether
// that was to be so.
func noAtomics(t *testing.T, f *Factory, verb rdma.Verb) bool {
	t.Helper()
	if f.NoAtomics == "" {
		return false
	}
	t.Logf("refused: %s", f.NoAtomics)
	a, b := connect(t, f)
	if _, err := b.dom.Register(b.m, every, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("granting atomics where there are none: %v, want errors.ErrUnsupported", err)
	}
	if l, ok := a.q.(rdma.Lacking); !ok || l.Lacks(verb) == "" || l.Lacks(rdma.VerbWriteNotify) != "" {
		t.Errorf("the queue lacks no %v, or notifications too", verb)
	}
	refuse(t, a, b, word(verb, 1, &b.memory, 64, 0, 1), rdma.StatusLocal)
	return true
}

// WithoutAtomics is a provider whose devices have no atomic operations and refuse to grant them, made to register without that right: for programs
// of tests that grant it, and do other things.
func WithoutAtomics(p rdma.Provider) rdma.Provider { return withoutAtomics{p} }

type withoutAtomics struct{ rdma.Provider }

func (p withoutAtomics) Open(ctx context.Context, name string, cfg *rdma.Config) (rdma.Adapter, error) {
	a, err := p.Provider.Open(ctx, name, cfg)
	if err != nil {
		return nil, err
	}
	return lesserAdapter{a}, nil
}

type lesserAdapter struct{ rdma.Adapter }

func (a lesserAdapter) NewDomain() (rdma.ProtectionDomain, error) {
	d, err := a.Adapter.NewDomain()
	if err != nil {
		return nil, err
	}
	return lesserDomain{d}, nil
}

type lesserDomain struct{ rdma.ProtectionDomain }

func (d lesserDomain) Register(m rdma.Memory, rights barewire.Rights, q rdma.Queue) (rdma.Keys, error) {
	return d.ProtectionDomain.Register(m, rights&^atom, q)
}
