package lint

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Published is a type that others use: its hash must stay.
type Published struct {
	Package, Name string
	Hash          [32]byte
	At            source.Span // in the lock file, or in the schema as it was
}

const lockHead = "# Types that are published, with their hashes: they must not change.\n" +
	"# barewire-gen lint --lock=FILE holds a schema to them; with --write-lock it adds new types.\n"

// PublishedIn lists the types of a schema, which is free of errors.
func PublishedIn(s *resolve.Schema) (list []Published) {
	for _, ns := range s.Namespaces {
		for _, f := range ns.Files {
			for _, d := range f.Decls {
				list = append(list, Published{ns.Package, d.Name, resolve.Hash(d), d.At})
			}
		}
	}
	return list
}

// Lock writes types as a lock file: a hash, a package or -, a name on each line, sorted by package and name.
func Lock(list []Published) []byte {
	out := []byte(lockHead)
	for _, p := range slices.SortedStableFunc(slices.Values(list), Published.compare) {
		out = p.appendLine(out)
	}
	return out
}

func (p Published) compare(q Published) int {
	return cmp.Or(cmp.Compare(p.Package, q.Package), cmp.Compare(p.Name, q.Name))
}

func (p Published) appendLine(out []byte) []byte {
	return fmt.Appendf(out, "%x %s %s\n", p.Hash, cmp.Or(p.Package, "-"), p.Name)
}

// ExtendLock adds types to a lock file, which has those that ParseLock found in it. It puts each where it sorts, and keeps
// every line that is there: comments belong to the type below them, those above the first type to the file.
func ExtendLock(f *source.File, locked, added []Published) []byte {
	if len(locked) == 0 && len(bytes.TrimSpace(f.Text())) == 0 {
		return Lock(added)
	}
	added = slices.SortedStableFunc(slices.Values(added), Published.compare)
	text := f.Text()
	out, from := []byte(nil), 0
	for i, p := range locked {
		begin := from
		if i == 0 {
			begin = p.At.Start // what is above is the file's
		}
		out = append(out, text[from:begin]...)
		for len(added) > 0 && added[0].compare(p) < 0 {
			out, added = added[0].appendLine(out), added[1:]
		}
		from = len(text)
		if n := bytes.IndexByte(text[p.At.End:], '\n'); n >= 0 {
			from = p.At.End + n + 1
		}
		out = append(out, text[begin:from]...)
	}
	if out = append(out, text[from:]...); len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	for _, p := range added {
		out = p.appendLine(out)
	}
	return out
}

// ParseLock reads a lock file.
func ParseLock(f *source.File) (list []Published, err error) {
	seen := map[[2]string]int{}
	for n := 1; n <= f.Lines(); n++ {
		line := f.Line(n)
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		words := bytes.Fields(line)
		p := Published{At: source.Span{File: f, Start: f.LineStart(n), End: f.LineStart(n) + len(line)}}
		if len(words) != 3 || len(words[0]) != hex.EncodedLen(len(p.Hash)) {
			return nil, fmt.Errorf("%s:%d: not a line of a lock file: a hash, a package or -, and a type's name", f.Name(), n)
		}
		if _, err := hex.Decode(p.Hash[:], words[0]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", f.Name(), n, err)
		}
		if p.Package, p.Name = string(words[1]), string(words[2]); p.Package == "-" {
			p.Package = ""
		}
		if was := seen[[2]string{p.Package, p.Name}]; was > 0 {
			return nil, fmt.Errorf("%s:%d: `%s` is locked in line %d already", f.Name(), n, p.Name, was)
		}
		seen[[2]string{p.Package, p.Name}] = n
		list = append(list, p)
	}
	return list, nil
}

// Edited finds published types that are not as they were. Types that are new are no finding.
func Edited(s *resolve.Schema, list []Published) (found diag.List) {
	types := map[[2]string]*resolve.Decl{}
	for _, ns := range s.Namespaces {
		for _, f := range ns.Files {
			for _, d := range f.Decls {
				types[[2]string{ns.Package, d.Name}] = d
			}
		}
	}
	for _, p := range list {
		d := types[[2]string{p.Package, p.Name}]
		switch {
		case d == nil:
			found = append(found, diag.Errorf(diag.PublishedEdited, p.At, "`%s` is published and not in the schema any more", p.Name).
				Helpf("put it back: others use it"))
		case resolve.Hash(d) != p.Hash:
			found = append(found, diag.Errorf(diag.PublishedEdited, d.At, "`%s` is published and was edited, or something that it uses was", p.Name).
				Also(p.At, "as it was published").
				Helpf("put it back, and declare a new type for what is new; `barewire-gen compat` says what the change would break"))
		}
	}
	return found
}
