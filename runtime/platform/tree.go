package platform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// What no machine has more of. Files of sysfs are a page at most, and tables of ACPI some hundred KiB; a tree that was
// captured may be anything.
const (
	maxFile    = 1 << 20 // bytes of a file
	maxEntries = 1 << 16 // names in a directory
	maxReads   = 1 << 20 // files and directories in all
)

// tree reads a machine's files: each bounded, and all of them together.
type tree struct {
	ctx   context.Context
	fsys  fs.FS
	buf   []byte // what read reads into
	reads int

	unread []Unread

	// What several facts are read from.
	procStatus Fact[string]
	mounts     []mount
	group      map[string]string // the process's control groups, by controller
}

func newTree(ctx context.Context, fsys fs.FS) *tree {
	return &tree{ctx: ctx, fsys: fsys, buf: make([]byte, 8<<10)}
}

// count counts a file; it fails where the context has ended or there were too many.
func (t *tree) count() error {
	t.reads++
	if t.reads > maxReads {
		return fmt.Errorf("%d files: %w", t.reads, ErrTooLarge)
	}
	return t.ctx.Err()
}

// read reads a file. What it returns is good until the next read.
func (t *tree) read(name string) (_ []byte, err error) {
	if err := t.count(); err != nil {
		return nil, err
	}
	f, err := t.fsys.Open(name)
	if err != nil {
		return nil, bare(err)
	}
	// Nothing was written, so closing says nothing of interest.
	defer func() { _ = f.Close() }()
	n := 0
	for {
		m, err := f.Read(t.buf[n:])
		n += m
		switch {
		case err == io.EOF:
			return t.buf[:n], nil
		case err != nil:
			return nil, bare(err)
		case n < len(t.buf):
		case n >= maxFile:
			return nil, fmt.Errorf("a file of over %d bytes: %w", maxFile, ErrTooLarge)
		default:
			t.buf = slices.Grow(t.buf, len(t.buf))[:2*len(t.buf)]
		}
	}
}

// blanks is what is around a value. Old kernels end lists with a zero byte too, as trees captured of them show.
const blanks = " \t\r\n\x00"

// text reads a file that is one value: without the blanks around it.
func (t *tree) text(name string) Fact[string] {
	b, err := t.read(name)
	if err != nil {
		return unknown[string](name, err)
	}
	return known(strings.Trim(string(b), blanks), name)
}

// number reads a file that is a number, in C's notation: 64, 0x40.
func (t *tree) number(name string) Fact[uint64] { return then(t.text(name), parseNumber) }

// integer reads a file that is a number which may be negative.
func (t *tree) integer(name string) Fact[int] {
	return then(t.text(name), func(s string) (int, error) {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%w: %s is no number", ErrMalformed, quote(s))
		}
		return int(n), nil
	})
}

// flag reads a file that is 0 or 1, true or false, Y or N.
func (t *tree) flag(name string) Fact[bool] {
	return then(t.text(name), func(s string) (bool, error) {
		switch s {
		case "1", "Y", "y", "true":
			return true, nil
		case "0", "N", "n", "false":
			return false, nil
		}
		return false, fmt.Errorf("%w: %s is neither 0 nor 1", ErrMalformed, quote(s))
	})
}

// ids reads a file that is a list of numbers.
func (t *tree) ids(name string) Fact[IDs] { return then(t.text(name), ParseIDs) }

// names lists a directory, sorted. One that is there and cannot be listed is said to be.
func (t *tree) names(name string) ([]string, error) {
	names, err := t.list(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.missed(name, err)
	}
	return names, err
}

// maxUnread is the most that is said of what cannot be read.
const maxUnread = 1000

// missed notes what cannot be read, and is no fact by itself.
func (t *tree) missed(name string, err error) {
	if len(t.unread) < maxUnread {
		t.unread = append(t.unread, Unread{name, plain(err)})
	}
}

func (t *tree) list(name string) ([]string, error) {
	if err := t.count(); err != nil {
		return nil, err
	}
	f, err := t.fsys.Open(name)
	if err != nil {
		return nil, bare(err)
	}
	defer func() { _ = f.Close() }()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, errors.New("not a directory")
	}
	var names []string
	for {
		entries, err := d.ReadDir(512)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if len(names) > maxEntries {
			return nil, fmt.Errorf("a directory of over %d names: %w", maxEntries, ErrTooLarge)
		}
		if err == io.EOF || err == nil && len(entries) == 0 {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, bare(err)
		}
	}
}

// numbered is a name that ends in a number: node12, mem0.
type numbered struct {
	name string
	n    int
}

// numbered lists what is in a directory under a prefix and a number, by number. Other names are passed over; a number that
// no machine has is an error.
func (t *tree) numbered(dir, prefix string) ([]numbered, error) {
	names, err := t.names(dir)
	if err != nil {
		return nil, err
	}
	found, err := numberedIn(names, prefix)
	if err != nil {
		t.missed(dir, err)
	}
	return found, err
}

func numberedIn(names []string, prefix string) (found []numbered, err error) {
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, prefix)
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" || len(digits) > 1 && digits[0] == '0' {
			continue
		}
		n, err := parseID(digits)
		if err != nil {
			return nil, err
		}
		found = append(found, numbered{name, n})
	}
	slices.SortFunc(found, func(a, b numbered) int { return a.n - b.n })
	return found, nil
}

// link is where a symbolic link leads, as it is written.
func (t *tree) link(name string) Fact[string] {
	if err := t.count(); err != nil {
		return unknown[string](name, err)
	}
	to, err := fs.ReadLink(t.fsys, name)
	if err != nil {
		return unknown[string](name, err)
	}
	return known(to, name)
}

// linkName is the last element of where a link leads: a driver's name, a device's.
func (t *tree) linkName(name string) Fact[string] {
	return then(t.link(name), func(to string) (string, error) { return path.Base(to), nil })
}

// has reports whether something is there.
func (t *tree) has(name string) bool {
	if t.count() != nil {
		return false
	}
	_, err := fs.Stat(t.fsys, name)
	return err == nil
}

func parseNumber(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %s is no number", ErrMalformed, quote(s))
	}
	return n, nil
}

// parseHex reads a hexadecimal number without 0x before it.
func parseHex(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %s is no hexadecimal number", ErrMalformed, quote(s))
	}
	return n, nil
}

func isRangeError(err error) bool { return errors.Is(err, strconv.ErrRange) }

// quote shows a piece of a file in an error, but not all of a long one.
func quote(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}
