package iwarp

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// What a source that fails has to wait, and for how long it is remembered.
const (
	firstDelay  = 100 * time.Millisecond // after the first failure; it doubles with each
	longestWait = 5 * time.Second
	forgiveness = 10 * time.Second // after which one failure is forgiven, and then the next
	maxSources  = 4096             // that are remembered
	maxStrikes  = 12
)

// guard remembers who failed: connections from a source whose earlier ones broke the rules wait, longer each time. And
// it counts connections, so that no one source has all places of a domain. A source is an address of IPv4, or the
// 64 bits of a network of IPv6. Those of this host are neither made to wait nor counted: any of them can be in many
// places of 127.0.0.0/8. It may be used from several goroutines.
type guard struct {
	most  int              // connections of one source
	exact bool             // sources of this host count as well; for tests
	now   func() time.Time // for tests

	mu    sync.Mutex
	bad   map[netip.Addr]*failures // at most maxSources
	conns map[netip.Addr]int       // connections that are open
}

// failures are what a source did.
type failures struct {
	strikes int
	last    time.Time // since when one is forgiven each forgiveness
	until   time.Time // it waits until then
}

// newGuard makes a guard for a domain of that many connections.
func newGuard(conns int) *guard {
	most := conns
	if conns >= 16 {
		most -= conns / 4
	}
	return &guard{most: most, now: time.Now, bad: map[netip.Addr]*failures{}, conns: map[netip.Addr]int{}}
}

// source is who an address counts as: zero where it is of no account.
func (g *guard) source(host netip.Addr) netip.Addr {
	host = host.Unmap().WithZone("")
	if !host.IsValid() || host.IsLoopback() && !g.exact {
		return netip.Addr{}
	}
	if host.Is6() {
		if p, err := host.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return host
}

// blame notes that the peer at an address, as in session.peer, broke the rules.
func (g *guard) blame(addr string) {
	if ap, err := netip.ParseAddrPort(addr); err == nil {
		g.strike(ap.Addr())
	}
}

// strike is blame for a host.
func (g *guard) strike(host netip.Addr) {
	src := g.source(host)
	if !src.IsValid() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	f := g.bad[src]
	if f == nil {
		g.makeRoom()
		f = &failures{}
		g.bad[src] = f
	}
	f.forgive(now)
	f.strikes = min(f.strikes+1, maxStrikes)
	f.last = now
	f.until = now.Add(min(firstDelay<<(f.strikes-1), longestWait))
}

// forgive takes off what time has passed for.
func (f *failures) forgive(now time.Time) {
	n := int(now.Sub(f.last) / forgiveness)
	f.strikes = max(f.strikes-n, 0)
	f.last = f.last.Add(time.Duration(n) * forgiveness)
}

// makeRoom forgets the one of a few sources that failed longest ago, if there are too many. mu is held.
func (g *guard) makeRoom() {
	if len(g.bad) < maxSources {
		return
	}
	var oldest netip.Addr
	seen := 0
	for src, f := range g.bad { // in random order
		if o := g.bad[oldest]; o == nil || f.last.Before(o.last) {
			oldest = src
		}
		if seen++; seen == 16 {
			break
		}
	}
	delete(g.bad, oldest)
}

// delay is how long a connection from a host is to wait.
func (g *guard) delay(host netip.Addr) time.Duration {
	src := g.source(host)
	if !src.IsValid() {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.bad[src]
	if f == nil {
		return 0
	}
	now := g.now()
	if f.forgive(now); f.strikes == 0 {
		delete(g.bad, src)
		return 0
	}
	return max(f.until.Sub(now), 0)
}

// enter counts a connection from a host, unless the source has as many as it may.
func (g *guard) enter(host netip.Addr) error {
	src := g.source(host)
	if !src.IsValid() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.conns[src]; n >= g.most {
		return fmt.Errorf("%w: %s has %d connections, as many as one source may (see Config.MaxConns)", rdma.ErrTooMany, src, n)
	}
	g.conns[src]++
	return nil
}

// leave ends what enter counted. Of a zero host there was nothing.
func (g *guard) leave(host netip.Addr) {
	src := g.source(host)
	if !src.IsValid() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conns[src]--; g.conns[src] <= 0 {
		delete(g.conns, src)
	}
}
