package cxl

import (
	"context"
	"errors"
	"fmt"
	"math"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/flush"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// What publishing and reading shared elements gives, for errors.Is.
var (
	ErrNoFlush     = flush.ErrUnsupported                                                                      // this processor cannot share memory that is not coherent
	ErrNotWriter   = errors.New("the element is another writer's")                                             // see Writer
	ErrTwoWriters  = errors.New("somebody else has written the element")                                       // since its writer did
	ErrTorn        = errors.New("a writer is in the midst of it, or has stopped there")                        // for a second
	ErrStale       = errors.New("it is older than what was seen before, or has parts of several ages")         // for a second
	ErrUnpublished = errors.New("nobody has published it yet")                                                 //
	ErrForeign     = errors.New("what is there is no element of this schema: another schema, or other memory") //
)

// Role is what a host does with shared elements. The zero value reads.
type Role struct{ first, count int }

// Reader reads all, and writes nothing: its mapping cannot.
var Reader = Role{}

// Writer publishes count elements from first on, and reads all.
func Writer(first, count int) Role { return Role{first, count} }

// File shares a file instead of a device, from [Part]'s offset on: one of a file system whose files are memory (famfs, or ext4 and xfs
// mounted with dax), as several hosts can see it. Of another file system it is shared by the processes of one host.
func File(name string) Option { return func(c *config) { c.file = name } }

// Share opens n elements in memory that several hosts see without hardware coherence. There is no window on them: [Publish] and
// [Snapshot] copy them as a whole. All who share them name the same device or file, by [Device] or [File], the same offset ([Part]), and the same schema and
// place; nothing is in between. Each element has one writer. Memory that nobody published to is zero, or has been cleared.
//
// What is sure, and what is not: each element is in lines of 64 bytes of its own, with a head that has a sequence, the schema's hash and
// a checksum of both and the element. A writer marks the head, writes the element, and writes the head, each forced to memory before the next. A reader drops
// the lines from its caches, copies, and looks at the head again. So an element that a snapshot gives was published, as it is, by one
// call; and is no older than one that this region has given before, or the call that [SnapshotSince] names. How new it is otherwise nobody can tell without
// a message. Two hosts that write to one element are found when one publishes again, not kept apart: between programs of one host
// a lock does that ([ErrClaimed]).
//
// What hardware defines of this: CXL 2.0 lets a device be divided among hosts, each of which then has its own part, and 3.0
// lets it give several the same memory, coherent only with back-invalidation (HDM-DB); no processor or device that can be had does
// that. Without it, that memory has what one host has forced to it when another one reads it past its caches rests on the processors' instructions for
// memory (Intel SDM, CLWB and SFENCE; Arm ARM, point of coherency) and on the switch or device having no cache of its own that differs by host,
// as the CXL specification wants. Linux's documentation says the same: "appropriate flushing mechanisms must be employed". We have shown it
// on one host's caches, by two kernels in virtual machines on one host, and on a simulation of two hosts' caches that are not coherent; not on two hosts.
//
// The error is [ErrNoFlush], [ErrNoCXL], [ErrNotCXL], [ErrClaimed], [ErrPart] or [ErrDevice].
//
//barewire:effect fresh=0 on ok
func Share[T barewire.Fixed[T]](ctx context.Context, place barewire.Place[T, barewire.CXLShared], n int, role Role, opts ...Option) (*barewire.Region[T, barewire.CXLShared, barewire.Unregistered], error) {
	info, kind, _, _, err := barewire.PlaceParts(friend, place)
	if err != nil {
		return nil, err
	}
	if kind != barewire.InCXLShared {
		return nil, fmt.Errorf("barewire: share: package cxl shares memory behind CXL, and this place of %s is %s", info.Name, kind)
	}
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	spec := region.Spec{Type: info, Count: n, Name: c.file, Home: uint8(barewire.InCXLShared)}
	h, err := share(ctx, &c, spec, role)
	if err != nil {
		return nil, err
	}
	return barewire.Mint[T, barewire.CXLShared, barewire.Unregistered](friend, h, region.FirstGen), nil
}

// share maps the elements.
func share(ctx context.Context, c *config, spec region.Spec, role Role) (*region.Handle, error) {
	if _, err := spec.Bytes(); err != nil {
		return nil, err
	}
	refuse := func(err error) error { return region.Refused(spec, err) }
	if err := ended(ctx); err != nil {
		return nil, refuse(err)
	}
	stride := strideOf(spec.Type.Size)
	switch {
	case flush.Supported() != nil:
		return nil, refuse(flush.Supported())
	case role.first < 0 || role.count < 0 || role.first > spec.Count || role.count > spec.Count-role.first:
		return nil, refuse(fmt.Errorf("a writer of %s from %d on, and there are %d: %w", region.Elements(role.count), role.first, spec.Count, ErrPart))
	case uint64(spec.Count) > (math.MaxInt-hugeAlign)/stride:
		return nil, refuse(fmt.Errorf("%s of %d bytes with their heads: %w", region.Elements(spec.Count), stride, ErrPart))
	case c.size != 0 && uint64(spec.Count)*stride > c.size:
		return nil, refuse(fmt.Errorf("the elements with their heads take %#x bytes, and the part has %#x: %w", uint64(spec.Count)*stride, c.size, ErrPart))
	case c.named:
		return nil, refuse(fmt.Errorf("node %d: nodes are of one host: %w", c.node, ErrPart))
	case c.file == "" && c.device == "":
		return nil, refuse(fmt.Errorf("neither Device nor File was named: %w", ErrPart))
	case c.file != "" && c.device != "":
		return nil, refuse(fmt.Errorf("both %s and %s were named: %w", c.device, c.file, ErrPart))
	}
	if c.machine == nil && c.file == "" {
		m, err := platform.Detect(ctx)
		if err != nil {
			return nil, refuse(err)
		}
		c.machine = m
	}
	mem, err := openShared(c, uint64(spec.Count)*stride, role, stride)
	if err != nil {
		return nil, refuse(err)
	}
	s := newShared(mem.base(), spec, role, hardware{})
	spec.Extra = s
	h, err := region.Adopt(spec, region.Given{
		Base: mem.base(), Size: uintptr(uint64(spec.Count) * stride), NoFile: mem.noFile(), Nodes: mem.nodes(), Release: mem.close,
	})
	if err != nil {
		return nil, errors.Join(err, mem.close())
	}
	return h, nil
}

// hugeAlign is what mappings are aligned to, at least.
const hugeAlign = 2 << 20
