package judge

import (
	"context"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// posted is an operation that the fabric holds until something waits for it.
type posted struct {
	op     rdma.Op
	rule   *soft.Rule
	lines  []int
	waited bool // somebody has waited, or it was flushed
	mended bool // it has ended because its region was closed nevertheless

	mem      *memory // the local elements that it has, and whether it writes them
	from, to int
	writes   bool
}

// Op is an operation; number is one more than its place among those that were posted.
type Op struct{ number int }

// stalled posts an operation that stays in flight.
func stalled[A Access](s Span[A], writes bool, post func() (rdma.Op, error)) (Op, error) {
	if now.refuses() {
		return Op{}, errInjected
	}
	rule := now.fabric.Inject(soft.Fault{When: soft.When{At: soft.AtRequest, Nth: 1, Times: 1}, Do: soft.Stall()})
	op, err := post()
	if err := now.note(err); err != nil {
		if !now.in.Mend {
			rule.Remove()
			return Op{}, err
		}
		if op, err = rdma.Read(now.conn, another[Local]().Span(0, 1), now.rem.Slice(0, 1)); err != nil {
			panic(err)
		}
		s.of = nil
	}
	now.posts = append(now.posts, &posted{op: op, rule: rule, lines: lines(), mem: memoryOf(s.of), from: s.i, to: s.i + s.n, writes: writes})
	return Op{len(now.posts)}, nil
}

func Read[A Registered](c *Conn, dst Span[A], src TickRemote[RemoteReadWrite]) (Op, error) {
	return stalled(dst, true, func() (rdma.Op, error) { return rdma.Read(c.real, dst.real, src) })
}

func Write[A Registered](c *Conn, dst TickRemote[RemoteReadWrite], src Span[A]) (Op, error) {
	return stalled(src, false, func() (rdma.Op, error) { return rdma.Write(c.real, dst, src.real) })
}

// release lets the operations up to the n-th go, and waits until they have ended.
func (r *run) release(n int) {
	for _, p := range r.posts[:n] {
		p.mended = false
		if !p.waited {
			p.waited = true
			p.rule.Release()
			p.rule.Remove()
			if err := p.op.Wait(context.Background()); err != nil {
				r.broken = err
			}
		}
	}
}

// mend ends all operations, which nobody has waited for.
func (r *run) mend() {
	var before []*posted
	for _, p := range r.posts {
		if !p.waited || p.mended {
			before = append(before, p)
		}
	}
	r.release(len(r.posts))
	for _, p := range before {
		p.mended = true
	}
}

// Wait is the operation's. Where it is to fail, the operation has ended nevertheless, or, where waits time out, goes on.
func (o Op) Wait(context.Context) error {
	fails := now.refuses()
	switch {
	case o.number == 0:
		return now.note(rdma.Op{}.Wait(context.Background()))
	case fails && now.in.Timeouts:
		now.lostWait = true
		return errInjected
	}
	now.release(o.number)
	if fails {
		now.lostWait = true
		return errInjected
	}
	return nil
}

// Flush ends all that was posted, also where it is to fail.
func (c *Conn) Flush(context.Context) error {
	fails := now.refuses()
	now.release(len(now.posts))
	if fails {
		return errInjected
	}
	return nil
}
