package platform

import (
	"context"
	"io/fs"
)

// Machine is what was found.
type Machine struct {
	System string `json:"system"` // the operating system: "linux", as runtime.GOOS has it
	Root   string `json:"root"`   // what was read: "/" for this machine
	NUMA   NUMA   `json:"numa"`
}

// DetectFS reads a machine from its files: fsys is the root, with sys, proc and dev in it. Files that are
// absent, unreadable or malformed are facts that are not known; an error is a context that ended, or a root that cannot be read.
//
// Links are followed as fsys follows them. Where fsys has no [fs.ReadLinkFS], what links say (drivers, kinds of dax
// devices) is not known.
func DetectFS(ctx context.Context, fsys fs.FS) (*Machine, error) {
	t := newTree(ctx, fsys)
	if _, err := t.names("."); err != nil {
		return nil, err
	}
	m := &Machine{System: "linux", NUMA: t.numa()}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m, nil
}
