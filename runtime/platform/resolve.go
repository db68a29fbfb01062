package platform

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

var (
	// ErrLacks is what a configuration gives that asks for what the machine lacks: each part is a [*Lack].
	ErrLacks = errors.New("platform: the machine lacks what the configuration asks for")
	// ErrNotChosen is what allocators give for nodes that are not the configuration's.
	ErrNotChosen = errors.New("platform: the configuration leaves that node out")
	// ErrMemoryLimit is what [Resolved.Reserve] gives beyond the limit.
	ErrMemoryLimit = errors.New("platform: the configuration's memory limit is reached")
)

// Lack is one thing that was asked for and is not there.
type Lack struct {
	Asked  string `json:"what"`             // "a node of CXL memory"
	Why    string `json:"why"`              // what there is instead, and where that was read
	Remedy string `json:"remedy,omitempty"` // what to do; may be empty
	Err    error  `json:"-"`                // the typed answer: [ErrNoCXL], [ErrNoGPU], …; may be nil
}

// Error is the lack in one line.
func (l *Lack) Error() string {
	s := "platform: no " + strings.TrimPrefix(strings.TrimPrefix(l.Asked, "an "), "a ") + ": " + l.Why
	if l.Remedy != "" {
		s += "; " + l.Remedy
	}
	return s
}

// Unwrap is [ErrLacks], and the typed answer.
func (l *Lack) Unwrap() []error {
	if l.Err == nil {
		return []error{ErrLacks}
	}
	return []error{ErrLacks, l.Err}
}

// Fallback is something that was asked for as optional and is lacking.
type Fallback struct {
	Lack    *Lack
	Instead string // what is had
}

// Resolved is a configuration that a machine can serve. Allocators and devices take it; it is for many goroutines at once. Its
// fields are read only.
type Resolved struct {
	Machine *Machine

	// Nodes is where memory may be placed at all; allocators at nodes refuse others: see [Resolved.MayLie].
	Nodes IDs
	// Near is those of Nodes with processors that this process may run on, the first choice for buffers. If there are none it is Nodes.
	Near []int
	// Far is those of Nodes whose memory is CXL, by the files or by [WithMemoryKind], the fastest first.
	Far []int
	// Dax is the device-dax devices of CXL memory that programs may map.
	Dax []Dax
	// LargeFrom is the bytes from which on buffers go to Far; 0: none does.
	LargeFrom uint64
	// HugePages says whether memory is asked for with huge pages. HugeSize is the bytes of a reserved one, of which some are free; 0: there are none.
	HugePages HugeMode
	HugeSize  uint64
	// Wait is how to wait for devices.
	Wait WaitMode
	// Locked is the bytes that may be locked; [Unlimited] where nothing bounds it or nobody says.
	Locked uint64
	// MemoryLimit is the most bytes that [Resolved.Reserve] gives at a time; [Unlimited]: any.
	MemoryLimit uint64
	// GPUs is those with a resizable BAR, or one that covers their memory, if that was asked for; else all that compute.
	GPUs []GPUDevice
	// Device is what Topology.Near named.
	Device string
	// Fallbacks is what was asked for as optional, and is lacking.
	Fallbacks []Fallback

	reserved atomic.Uint64
}

// share bounds memory to a part of the machine's.
func (c *Config) share(num, den uint64) { c.part = [2]uint64{num, den} }

// Resolve holds the configuration against a machine. The error names everything that is lacking: each part is a [*Lack],
// and the whole is [ErrLacks]. A nil machine has nothing.
func (c Config) Resolve(m *Machine) (*Resolved, error) {
	if m == nil {
		return nil, errors.New("platform: no machine: a nil pointer; platform.Detect gives one")
	}
	if err := c.valid(); err != nil {
		return nil, err
	}
	m = m.withKinds(c.kinds)
	r := &Resolved{Machine: m, Nodes: m.NUMA.Usable(), LargeFrom: c.large, Wait: c.wait, Locked: m.Limits.MayLock().Or(Unlimited)}
	lacks := &lacking{r: r}
	for node := range c.kinds {
		if _, ok := m.NUMA.Node(node); !ok {
			lacks.note(&Lack{Asked: fmt.Sprintf("node %d, of which the configuration knows the kind", node), Why: fmt.Sprintf("online are %s", m.NUMA.Online)}, false, "")
		}
	}
	for _, a := range c.cxl {
		lacks.note(m.lacksCXL(a.what), a.optional, "memory of the machine's own")
	}
	if c.bar != nil {
		lacks.note(m.lacksBAR(), c.bar.optional, "pinned host memory, which is the zero-copy buffer of every GPU")
	}
	if c.topology != nil {
		r.nodes(c.topology.what, c.topology.optional, lacks)
	}
	if c.lock != nil {
		lacks.note(m.lacksLock(c.lock.what), c.lock.optional, "as much locked memory as the limit allows")
	}
	r.hugePages(c.huge, lacks)
	r.limit(c, lacks)
	r.places(c.topology)
	r.gpus(c.bar != nil)
	if r.Wait != WaitEvent && m.processors() == 1 {
		lacks.note(&Lack{Asked: "a second processor to wait " + c.wait.String(), Why: "this process may run on one: " + m.NUMA.CPUsAllowed.From}, true, "waiting by events")
		r.Wait = WaitEvent
	}
	if err := errors.Join(lacks.errs...); err != nil {
		return nil, err
	}
	return r, nil
}

// valid is an error for what no machine could be.
func (c Config) valid() error {
	for _, a := range c.cxl {
		if int(a.what) >= len(capabilityNames) && a.what != anyCXL {
			return fmt.Errorf("platform: %s: there is no such capability", a.what)
		}
	}
	if c.wait > WaitBusy {
		return fmt.Errorf("platform: there is no wait %s", c.wait)
	}
	if c.huge != nil && c.huge.what > HugeMust {
		return fmt.Errorf("platform: there is no %s of huge pages", c.huge.what)
	}
	for node, kind := range c.kinds {
		if node < 0 || node >= maxID || int(kind) >= len(kindNames) {
			return fmt.Errorf("platform: node %d of kind %d: there is no such node, or no such kind", node, kind)
		}
	}
	return nil
}

// lacking gathers what is lacking: errors, and fallbacks of what is optional.
type lacking struct {
	r    *Resolved
	errs []error
}

func (l *lacking) note(lack *Lack, optional bool, instead string) {
	switch {
	case lack == nil:
	case optional:
		l.r.Fallbacks = append(l.r.Fallbacks, Fallback{lack, instead})
	default:
		l.errs = append(l.errs, lack)
	}
}

// nodes narrows the nodes to those of a topology.
func (r *Resolved) nodes(t Topology, optional bool, lacks *lacking) {
	n := &r.Machine.NUMA
	if missing := t.Only.Without(r.Nodes); !t.Only.Empty() {
		if missing.Empty() {
			r.Nodes = t.Only
		} else {
			lack := &Lack{Asked: "node " + missing.String() + " with memory", Why: fmt.Sprintf("usable are %s (online %s, allowed %s)", r.Nodes, n.Online, n.Allowed), Err: n.Err,
				Remedy: "see `cat /proc/self/status` for Mems_allowed_list, and cpuset.mems of the control group"}
			lacks.note(lack, optional, "the nodes that are usable")
			if both := t.Only.And(r.Nodes); optional && !both.Empty() {
				r.Nodes = both
			}
		}
	}
	if near := n.near(); near.Len() < t.AtLeast {
		lacks.note(&Lack{Asked: fmt.Sprintf("%d nodes with processors and memory", t.AtLeast), Why: fmt.Sprintf("there are %d: %q", near.Len(), near), Err: n.Err}, optional, "the nodes that there are")
	}
	if t.Near != "" {
		if _, err := r.Machine.nodeNear(t.Near); err != nil {
			lacks.note(err, optional, "any node")
		} else {
			r.Device = t.Near
		}
	}
}

// places puts the nodes in order: near first by the device that memory is to be near to, far by speed.
func (r *Resolved) places(t *ask[Topology]) {
	n := &r.Machine.NUMA
	near := n.near().And(r.Nodes)
	if n.CPUsAllowed.Known() {
		var runs []int
		for id := range near.All() {
			if node, ok := n.Node(id); ok && !node.CPUs.Value.And(n.CPUsAllowed.Value).Empty() {
				runs = append(runs, id)
			}
		}
		if len(runs) > 0 {
			near = MakeIDs(runs...)
		}
	}
	if near.Empty() {
		near = r.Nodes
	}
	r.Near = slices.Collect(near.All())
	if r.Device != "" {
		first, _ := r.Machine.nodeNear(r.Device)
		if i := slices.Index(r.Near, first); i > 0 {
			r.Near = slices.Insert(slices.Delete(r.Near, i, i+1), 0, first)
		} else if i < 0 && r.Nodes.Has(first) {
			r.Near = slices.Insert(r.Near, 0, first)
		}
	}
	r.Far = slices.Collect(n.OfKind(MemoryKind.IsCXL).And(r.Nodes).All())
	slices.SortStableFunc(r.Far, func(a, b int) int { return n.compareSpeed(a, b) })
	r.Dax = r.Machine.Mappable()
}

// hugePage is the reserved pages that allocators of package barewire ask for.
const hugePage = 2 << 20

// hugePages looks for free pages of the size that allocators ask for; of others there may be as many as there will.
func (r *Resolved) hugePages(want *ask[HugeMode], lacks *lacking) {
	if want == nil || want.what == HugeNever {
		return
	}
	r.HugePages = want.what
	for _, p := range r.Machine.Limits.HugePages {
		if p.Size == hugePage && p.Free.Or(0) > 0 {
			r.HugeSize = p.Size
			return
		}
	}
	if want.what == HugeMust {
		lacks.note(&Lack{Asked: "free huge pages of 2 MiB", Why: "sys/kernel/mm/hugepages has none", Remedy: "as root: echo 512 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"}, want.optional, "huge pages where the kernel makes some")
		r.HugePages = HugeTry
	}
}

// limit is the least of what was asked for, the control group, and the machine's memory.
func (r *Resolved) limit(c Config, lacks *lacking) {
	most, from := r.Machine.mostMemory()
	r.MemoryLimit = most
	if num, den := c.part[0], c.part[1]; den > 0 && most != Unlimited {
		r.MemoryLimit = most / den * num
	}
	switch {
	case c.limit == 0:
	case c.limit > most:
		lacks.note(&Lack{Asked: FormatBytes(c.limit) + " of memory", Why: from + " allows " + FormatBytes(most)}, true, FormatBytes(most))
		r.MemoryLimit = most
	default:
		r.MemoryLimit = c.limit
	}
}

func (r *Resolved) gpus(whole bool) {
	for _, g := range r.Machine.GPU.Devices {
		if g.Computes() && (!whole || g.whole()) {
			r.GPUs = append(r.GPUs, g)
		}
	}
}

// Reserve counts bytes that somebody is about to allocate. Release, which may be called more than once, gives them back. Beyond [Resolved.MemoryLimit] it is
// [ErrMemoryLimit]. A nil Resolved has no limit.
func (r *Resolved) Reserve(bytes uint64) (release func(), err error) {
	if r == nil || bytes == 0 {
		return func() {}, nil
	}
	for {
		now := r.reserved.Load()
		if bytes > r.MemoryLimit || now > r.MemoryLimit-bytes {
			return nil, fmt.Errorf("%w: %s are wanted, and %s of %s are taken", ErrMemoryLimit, FormatBytes(bytes), FormatBytes(now), FormatBytes(r.MemoryLimit))
		}
		if r.reserved.CompareAndSwap(now, now+bytes) {
			break
		}
	}
	var done atomic.Bool
	return func() {
		if done.CompareAndSwap(false, true) {
			r.reserved.Add(^(bytes - 1))
		}
	}, nil
}

// Reserved is the bytes that are reserved now.
func (r *Resolved) Reserved() uint64 {
	if r == nil {
		return 0
	}
	return r.reserved.Load()
}

// MayLie is an error where memory must not be placed at a node: it is not among Nodes. Where the system shows no nodes, it may be at any.
func (r *Resolved) MayLie(node int) error {
	if r == nil || r.Nodes.Empty() || r.Nodes.Has(node) {
		return nil
	}
	return fmt.Errorf("%w: node %d is none of %s", ErrNotChosen, node, r.Nodes)
}

// Place is the nodes that a buffer should lie at, the best first, and why: large ones at Far where one has room by what it had free when the machine was read, all others
// at Near, and then at the rest. A nil Resolved, as one that nothing was resolved for, names none.
func (r *Resolved) Place(bytes uint64) (nodes []int, why string) {
	if r == nil || r.Machine == nil {
		return nil, "no configuration says where"
	}
	n := &r.Machine.NUMA
	if r.LargeFrom > 0 && bytes >= r.LargeFrom {
		for _, id := range r.Far {
			node, ok := n.Node(id)
			if ok && node.Memory.Free.Or(0)+node.Memory.Reclaimable.Or(0) >= bytes {
				nodes = append(nodes, id)
			}
		}
		why = fmt.Sprintf("from %s on buffers lie at CXL nodes", FormatBytes(r.LargeFrom))
		if len(nodes) == 0 {
			why = fmt.Sprintf("no CXL node has %s free", FormatBytes(bytes))
		}
	} else {
		why = "near the processors"
	}
	for _, id := range r.Near {
		if !slices.Contains(nodes, id) {
			nodes = append(nodes, id)
		}
	}
	return nodes, why
}

// String says what is used, in one line.
func (r *Resolved) String() string {
	if r == nil {
		return "no configuration"
	}
	s := fmt.Sprintf("nodes %s, near %v, far %v", r.Nodes, r.Near, r.Far)
	if r.LargeFrom > 0 {
		s += " from " + FormatBytes(r.LargeFrom)
	}
	s += fmt.Sprintf(", huge pages %s, waiting %s, memory %s, locked %s", r.HugePages, r.Wait, FormatBytes(r.MemoryLimit), FormatBytes(r.Locked))
	for _, f := range r.Fallbacks {
		s += "; " + f.Instead + " instead of " + f.Lack.Asked
	}
	return s
}
