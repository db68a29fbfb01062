package good

import "github.com/fidelityframework/barewire-gen/runtime/rdma"

// GoodSaysReleases does what it says.
//
//barewire:effect releases=m on ok
func GoodSaysReleases(m *M) error { return m.Close() }

// GoodSaysKeeps gives it to somebody else, who ends it.
//
//barewire:effect releases=m
func GoodSaysKeeps(m *M, ch chan<- *M) { ch <- m }

// GoodTrusted ends it in a way that does not show.
//
//barewire:effect releases=m
//barewire:trust the other side closes it by name
func GoodTrusted(m *M, name string) { println(name, m.Len()) }

// GoodDeclaredUse relies on them.
func GoodDeclaredUse(dom *rdma.Domain, p *pool) error {
	a, err := p.get()
	if err != nil {
		return err
	}
	GoodTrusted(a, "a")
	b, err := p.get()
	if err != nil {
		return err
	}
	return GoodSaysReleases(b)
}
