package soft

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Fault is a rule: what goes wrong, and when.
type Fault struct {
	When When
	Do   Action
}

// When says which events a fault is for. What is zero does not restrict.
type When struct {
	At     Point
	Verb   rdma.Verb  // of a request
	Peer   string     // the queue's Peer, or the address dialed or listened at
	Queue  rdma.Queue // the queue that posts
	Nth    int        // of the events that match the fields above, this one and those after it: 1 is the first
	Times  int        // so many, then never again
	Chance float64    // 0 to 1, drawn for each that is left; 0 is always
}

// Point is where in a program an event is.
type Point uint8

// The points.
const (
	AtRequest  Point = iota // a posted request, when its turn comes
	AtDial                  // Dial
	AtAccept                // Accept, when the peer has been answered
	AtRegister              // Register
	AtPrepare               // Prepare: a key of the peer
)

// Action is what a fault does. At points other than AtRequest anything
// but a delay refuses.
type Action struct {
	kind kind
	d    time.Duration
	s    rdma.Status
	text string
}

type kind uint8

const (
	doRefuse kind = iota
	doDelay
	doDrop
	doStall
	doFail
	doNotReady
	doReorder
	doKill
)

// Delay holds a request for a time, and those after it with it.
func Delay(d time.Duration) Action { return Action{kind: doDelay, d: d} }

// Drop loses a request: it is not done, and never completes unless the queue is aborted. Those
// after it wait for it.
func Drop() Action { return Action{kind: doDrop} }

// Stall holds a request until [Rule.Release], and those after it with it.
func Stall() Action { return Action{kind: doStall} }

// Fail completes a request with a status, undone.
func Fail(s rdma.Status) Action { return Action{kind: doFail, s: s} }

// NotReady makes as if the peer had no receive posted for a time.
func NotReady(d time.Duration) Action { return Action{kind: doNotReady, d: d} }

// Reorder does with one request what [Config.Reorder] does with all.
func Reorder() Action { return Action{kind: doReorder} }

// Kill ends the adapter of the peer, as if its process had died at that point.
func Kill() Action { return Action{kind: doKill} }

// Refuse refuses a connection, a registration, or a key. A request fails with StatusRemoteKey.
func Refuse(text string) Action { return Action{kind: doRefuse, text: text} }

// Rule is a fault in place. It may be used from several goroutines.
type Rule struct {
	fault  Fault
	fabric *Fabric

	mu      sync.Mutex
	rnd     *rand.Rand
	matched int
	hits    int
	stalled []*queue
}

// Inject puts a fault in place. Where several are for one event, the one that was
// injected first and acts is the only one that does.
func (f *Fabric) Inject(fault Fault) *Rule {
	r := &Rule{fault: fault, fabric: f, rnd: f.random()}
	f.change(func(rules []*Rule) []*Rule { return append(rules, r) })
	return r
}

func (f *Fabric) change(edit func([]*Rule) []*Rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var rules []*Rule
	if old := f.rules.Load(); old != nil {
		rules = slices.Clone(*old)
	}
	if rules = edit(rules); len(rules) == 0 {
		f.rules.Store(nil)
		return
	}
	f.rules.Store(&rules)
}

// Hits is how often the fault has acted.
func (r *Rule) Hits() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hits
}

// Release lets requests go that the fault stalled.
func (r *Rule) Release() {
	r.mu.Lock()
	queues := r.stalled
	r.stalled = nil
	r.mu.Unlock()
	for _, q := range queues {
		q.unblock(onRelease)
	}
}

// Remove takes the fault away and releases what it stalled.
func (r *Rule) Remove() {
	if r == nil || r.fabric == nil {
		return // of no fabric
	}
	r.fabric.change(func(rules []*Rule) []*Rule {
		return slices.DeleteFunc(rules, func(x *Rule) bool { return x == r })
	})
	r.Release()
}

// judge returns the rule that acts on an event, if any.
func (f *Fabric) judge(at Point, verb rdma.Verb, q *queue, peer string) *Rule {
	rules := f.rules.Load()
	if rules == nil {
		return nil
	}
	for _, r := range *rules {
		if r.acts(at, verb, q, peer) {
			return r
		}
	}
	return nil
}

func (r *Rule) acts(at Point, verb rdma.Verb, q *queue, peer string) bool {
	w := &r.fault.When
	if w.At != at || w.Verb != 0 && w.Verb != verb || w.Peer != "" && w.Peer != peer {
		return false
	}
	if w.Queue != nil && w.Queue != rdma.Queue(q) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.matched++; r.matched < w.Nth || w.Times > 0 && r.hits >= w.Times {
		return false
	}
	if w.Chance > 0 && r.rnd.Float64() >= w.Chance {
		return false
	}
	r.hits++
	return true
}

// refused is what the faults at points other than requests say.
func (f *Fabric) refused(at Point, q *queue, peer string) error {
	r := f.judge(at, 0, q, peer)
	if r == nil {
		return nil
	}
	act := r.fault.Do
	if act.kind == doDelay {
		time.Sleep(act.d)
		return nil
	}
	if act.text == "" {
		act.text = "a fault was injected"
	}
	return fmt.Errorf("refused: %s", act.text)
}
