package lint

import (
	"bytes"
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
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Published) int {
		return bytes.Compare([]byte(a.Package+"\x00"+a.Name), []byte(b.Package+"\x00"+b.Name))
	})
	out := []byte(lockHead)
	for _, p := range list {
		pkg := p.Package
		if pkg == "" {
			pkg = "-"
		}
		out = fmt.Appendf(out, "%x %s %s\n", p.Hash, pkg, p.Name)
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
