// Package initramfs makes what a guest has for a root: an archive in memory of programs, their libraries and kernel
// modules, made from files of this machine. The larger part is the same for all guests of a kernel, and kept.
package initramfs

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// Modes of entries. Source: stat(2).
const (
	modeDir  = 0o040755
	modeFile = 0o100644
	modeProg = 0o100755
	modeLink = 0o120777
)

// archive writes cpio's newc format, which the kernel unpacks. Source: the kernel's
// Documentation/driver-api/early-userspace/buffer-format.rst. Archives may follow each other.
type archive struct {
	w    io.Writer
	n    int             // bytes written, for padding
	ino  int             // of the last entry
	seen map[string]bool // paths that are there
	err  error           // the first
}

func newArchive(w io.Writer) *archive { return &archive{w: w, seen: map[string]bool{}} }

// merged are the directories at the root that are links into /usr, as on this machine. Should one of them come as
// a directory the kernel would put it in the link's place.
var merged = []string{"bin", "sbin", "lib", "lib64"}

// clean makes a path relative to the root, and has it go through no link.
func clean(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	first, _, _ := strings.Cut(name, "/")
	for _, m := range merged {
		if first == m {
			return "usr/" + name
		}
	}
	return name
}

// dir makes a directory and those that it is in.
func (a *archive) dir(name string) {
	name = clean(name)
	if name == "" || a.seen[name] {
		return
	}
	a.parents(name)
	a.entry(name, modeDir, nil)
}

// file makes a file, unless it is there.
func (a *archive) file(name string, mode int, data []byte) {
	if name = clean(name); a.seen[name] {
		return
	}
	a.parents(name)
	a.entry(name, mode, data)
}

// link makes a symbolic link, unless something is there.
func (a *archive) link(name, to string) {
	if name = clean(name); a.seen[name] {
		return
	}
	a.parents(name)
	a.entry(name, modeLink, []byte(to))
}

// root makes the links of merged. It is for the first of several archives.
func (a *archive) root() {
	for _, m := range merged {
		a.dir("usr/" + m)
		a.entry(m, modeLink, []byte("usr/"+m))
	}
}

func (a *archive) parents(name string) {
	if up := path.Dir(name); up != "." {
		a.dir(up)
	}
}

func (a *archive) entry(name string, mode int, data []byte) {
	a.seen[name] = true
	a.ino++
	a.header(name, a.ino, mode, len(data))
	a.write(data)
	a.pad()
}

// header writes the fields of an entry: magic, inode, mode, owner, group, links, time, size, four of devices, length
// of the name, checksum; then the name.
func (a *archive) header(name string, ino, mode, size int) {
	a.write(fmt.Appendf(nil, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\x00",
		ino, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, len(name)+1, 0, name))
	a.pad()
}

// close ends the archive. It returns the first error of all that was written.
func (a *archive) close() error {
	a.header("TRAILER!!!", 0, 0, 0)
	return a.err
}

func (a *archive) write(b []byte) {
	if a.err != nil {
		return
	}
	n, err := a.w.Write(b)
	a.n, a.err = a.n+n, err
}

func (a *archive) pad() { a.write(make([]byte, -a.n&3)) }
