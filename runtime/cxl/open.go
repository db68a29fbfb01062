package cxl

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// Option says which memory a pool is to have, and how.
type Option func(*config)

type config struct {
	device       string
	node         int
	named        bool // node is wanted
	offset, size uint64
	assume       bool
	unguarded    bool
	file         string
	machine      *platform.Machine
	under        *platform.Resolved // nil: none
}

// Device wants a device-dax, by its name, dax0.0, or its file.
func Device(name string) Option { return func(c *config) { c.device = path.Base(name) } }

// Node wants a node of NUMA.
func Node(n int) Option { return func(c *config) { c.node, c.named = n, true } }

// Part wants size bytes of a device from an offset on, both multiples of the device's alignment (2 MiB, as a rule). Size 0 is all from there on.
func Part(offset, size uint64) Option { return func(c *config) { c.offset, c.size = offset, size } }

// Size wants so many bytes: of a device, or of a node, where it is [DefaultSize] otherwise.
func Size(bytes uint64) Option { return func(c *config) { c.size = bytes } }

// Assume takes the device or node that is named to be of CXL where the system does not say so: soft-reserved memory, and what
// firmware brought online. Where the system says that it is something else it is no help.
func Assume() Option { return func(c *config) { c.assume = true } }

// Unguarded leaves the guards out: see [Pool].
func Unguarded() Option { return func(c *config) { c.unguarded = true } }

// On takes a machine that was looked at before.
func On(m *platform.Machine) Option { return func(c *config) { c.machine = m } }

// Under takes the machine of a configuration, with what that knows better of its nodes, and of its nodes none but the
// configuration's, the fastest first. What regions take counts where they are made by barewire.Under.
func Under(r *platform.Resolved) Option {
	return func(c *config) {
		if r != nil {
			c.under, c.machine = r, r.Machine
		}
	}
}

// nodes is the nodes of CXL memory, in the order that they are tried.
func (c *config) nodes() []int {
	if c.under != nil {
		return c.under.Far
	}
	n := &c.machine.NUMA
	return slices.Collect(n.OfKind(platform.MemoryKind.IsCXL).And(n.Usable()).All())
}

// DefaultSize is how much of a node a pool has where nobody says: address space, until regions take it.
const DefaultSize = 1 << 30

// Open opens a pool of memory behind CXL: the device or node that options name, else the first device-dax that
// is CXL's and free, else the first node that is. Who opened it closes it, after its regions. The error is [ErrNoCXL] where there is none,
// and says what was looked at; of what was named [ErrNotCXL], [ErrClaimed], [ErrPart], [ErrDevice] or [ErrNoNode].
//
//barewire:effect fresh=0 on ok
func Open(ctx context.Context, opts ...Option) (*Pool, error) {
	if err := ended(ctx); err != nil {
		return nil, fmt.Errorf("cxl: open: %w", err)
	}
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if c.machine == nil {
		m, err := platform.Detect(ctx)
		if err != nil {
			return nil, fmt.Errorf("cxl: open: %w", err)
		}
		c.machine = m
	}
	p, err := c.open()
	if err != nil {
		return nil, fmt.Errorf("cxl: open: %w", err)
	}
	return p, nil
}

// ended is the error of a context that ended, or is none.
func ended(ctx context.Context) error {
	if ctx == nil {
		return errors.New("the context is nil")
	}
	return ctx.Err()
}

func (c *config) open() (*Pool, error) {
	switch {
	case c.file != "":
		return nil, fmt.Errorf("%s is a file, which Share takes: %w", c.file, ErrPart)
	case c.device != "" && c.named:
		return nil, fmt.Errorf("both %s and node %d were named: %w", c.device, c.node, ErrPart)
	case c.device != "":
		return c.byName()
	case c.named:
		return c.byNode()
	}
	return c.any()
}

// byName opens the device that was named.
func (c *config) byName() (*Pool, error) {
	d, ok := c.machine.DaxOf(c.device)
	if !ok {
		return nil, fmt.Errorf("there is no dax device %q: %w: %w", c.device, ErrDevice, ErrNoCXL)
	}
	if err := c.isCXL(d.Name, d.Kind); err != nil {
		return nil, err
	}
	if driver := d.Driver.Or("none"); driver != "device_dax" {
		remedy := fmt.Sprintf("daxctl reconfigure-device --mode=devdax --force %s", d.Name)
		if driver == "kmem" {
			return nil, fmt.Errorf("%s is the system's memory, node %s: use Node, or %s: %w", d.Name, d.TargetNode, remedy, ErrDevice)
		}
		return nil, fmt.Errorf("%s has driver %s, and only device_dax lets programs map it: %s: %w", d.Name, driver, remedy, ErrDevice)
	}
	return openDevice(c, d)
}

// byNode opens the node that was named.
func (c *config) byNode() (*Pool, error) {
	if c.offset != 0 {
		return nil, fmt.Errorf("an offset into node %d: nodes have none: %w", c.node, ErrPart)
	}
	n, ok := c.machine.NUMA.Node(c.node)
	if !ok {
		return nil, fmt.Errorf("node %d: %w", c.node, ErrNoNode)
	}
	if err := c.isCXL(fmt.Sprintf("node %d", c.node), n.Kind); err != nil {
		return nil, err
	}
	if err := c.under.MayLie(c.node); err != nil {
		return nil, err
	}
	return openNode(c, c.node)
}

// isCXL reports whether memory is behind CXL, as the system tells, or as is assumed where it does not tell.
func (c *config) isCXL(what string, kind platform.Fact[platform.MemoryKind]) error {
	k := kind.Or(platform.UnknownMemory)
	switch {
	case k.IsCXL():
		return nil
	case c.assume && slices.Contains([]platform.MemoryKind{platform.UnknownMemory, platform.SoftReserved, platform.PlainMemory}, k):
		return nil
	}
	return fmt.Errorf("%s is %s memory: %w; who knows that it is says so by Assume", what, k, ErrNotCXL)
}

// any opens what there is.
func (c *config) any() (*Pool, error) {
	var why []error
	for _, d := range c.machine.Dax {
		if d.Kind.Or(platform.UnknownMemory).IsCXL() && d.Driver.Or("") == "device_dax" {
			p, err := openDevice(c, &d)
			if err == nil {
				return p, nil
			}
			why = append(why, err)
		}
	}
	if c.machine.NUMA.Err == nil {
		for _, n := range c.nodes() {
			if c.offset != 0 {
				why = append(why, fmt.Errorf("node %d: nodes have no parts: %w", n, ErrPart))
				continue
			}
			p, err := openNode(c, n)
			if err == nil {
				return p, nil
			}
			why = append(why, err)
		}
	}
	if len(why) == 0 {
		return nil, fmt.Errorf("%w (%d dax devices and %d nodes were looked at)", ErrNoCXL, len(c.machine.Dax), len(c.machine.NUMA.Nodes))
	}
	return nil, fmt.Errorf("%w that can be used: %w", ErrNoCXL, errors.Join(why...))
}
