package platform

import (
	"context"
	"errors"
	"io/fs"
)

// Machine is what was found.
type Machine struct {
	System string `json:"system"` // the operating system: "linux", as runtime.GOOS has it
	Root   string `json:"root"`   // what was read: "/" for this machine, empty for another tree

	NUMA   NUMA   `json:"numa"`
	CXL    CXL    `json:"cxl"`
	Dax    []Dax  `json:"dax"` // dax devices of all kinds, by name
	RDMA   RDMA   `json:"rdma"`
	GPU    GPUs   `json:"gpu"`
	Limits Limits `json:"limits"`
	Kernel Kernel `json:"kernel"`

	// Unread is the directories that are there and could not be listed: what is below them is not in the lists above.
	Unread []Unread `json:"unread,omitempty"`
}

// Unread is something that is there and could not be read.
type Unread struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// elsewhere is a machine of another system than Linux: nothing is known of it but its pages.
func elsewhere(system string, page uint64) *Machine {
	return &Machine{
		System: system, Root: "/",
		NUMA: NUMA{Err: ErrNotLinux}, CXL: CXL{Err: ErrNotLinux}, RDMA: RDMA{Err: ErrNotLinux}, GPU: GPUs{Err: ErrNotLinux},
		Limits: Limits{PageSize: known(page, "getpagesize")},
	}
}

// unseen says of all that was not found that it may be there.
func (m *Machine) unseen() {
	for _, err := range []*error{&m.NUMA.Err, &m.CXL.Err, &m.RDMA.Err, &m.GPU.Err} {
		if *err != nil {
			*err = &noSysfs{*err}
		}
	}
}

// noSysfs is a typed answer that rests on nothing.
type noSysfs struct{ answer error }

func (e *noSysfs) Error() string { return ErrNoSysfs.Error() }

// Unwrap is the answer, for programs, which can have nothing of it either way.
func (e *noSysfs) Unwrap() []error { return []error{ErrNoSysfs, e.answer} }

// ended is the error of a context that ended, or is none.
func ended(ctx context.Context) error {
	if ctx == nil {
		return errors.New("platform: detect: the context is nil")
	}
	return ctx.Err()
}

// DetectFS reads a machine from its files: fsys is the root, with sys, proc and dev in it. Files that are
// absent, unreadable or malformed are facts that are not known; an error is a context that ended, or a root that cannot be read.
//
// Links are followed as fsys follows them: [os.Root] keeps those of a tree that somebody else made within it. Where fsys
// has no [fs.ReadLinkFS], what links say (drivers, kinds of dax devices) is not known.
func DetectFS(ctx context.Context, fsys fs.FS) (*Machine, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	if fsys == nil {
		return nil, errors.New("platform: detect: the root is nil")
	}
	t := newTree(ctx, fsys)
	if _, err := t.names("."); err != nil {
		return nil, err
	}
	t.procStatus = t.text("proc/self/status")
	t.mounts, t.group = t.cgroupMounts(), t.groups()

	m := &Machine{System: "linux", Kernel: t.kernel(), Limits: t.limits(), NUMA: t.numa(), RDMA: t.rdma()}
	m.NUMA.CPUsAllowed, m.NUMA.Allowed = t.allowed()
	devices, err := t.pci()
	m.GPU = t.gpus(devices, err, m.Kernel.Release)
	m.CXL = t.cxl(devices)
	m.Dax = t.dax(m.NUMA.Online)
	t.kinds(m)
	if names, err := t.names("sys"); errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		m.unseen()
	}
	m.Unread = t.unread
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m, nil
}
