package lsp

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/schema/parser"
)

// A schema is compiled by itself where it declares all that it uses. Where it does
// not, the schemas beside it that declare the rest belong to it, as if they were given
// to one `generate`; a directory may well hold several versions of one schema, which do
// not.

// mostBeside is how many files beside a document are looked at.
const mostBeside = 500

// beside returns the schemas in a document's directory: what editors have open as it
// is there, the others as they are on disk.
func (s *server) beside(u *unit) (all []*unit) {
	path := pathOf(u.uri)
	if path == "" {
		return nil
	}
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		entries = nil // a document that is not saved yet may have no directory
	}
	seen := map[string]bool{filepath.Base(path): true}
	for _, d := range s.docs {
		if other := pathOf(d.uri); other != "" && filepath.Dir(other) == dir && !seen[filepath.Base(other)] {
			seen[filepath.Base(other)] = true
			all = append(all, d.unit)
		}
	}
	for _, e := range entries {
		if len(all) >= mostBeside {
			break
		}
		if e.IsDir() || filepath.Ext(e.Name()) != ".bare" || strings.HasPrefix(e.Name(), ".") || seen[e.Name()] {
			continue
		}
		if f := s.onDisk(filepath.Join(dir, e.Name()), uriOf(u.uri, e.Name())); f != nil {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b *unit) int { return strings.Compare(a.uri, b.uri) })
	return all
}

// onDisk is a file that no editor has open, read again when it has changed.
func (s *server) onDisk(path, uri string) *unit {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > parser.MaxFile {
		return nil
	}
	kept := s.disk[path]
	if kept != nil && kept.size == info.Size() && kept.time.Equal(info.ModTime()) {
		return kept.unit
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, parser.MaxFile))
	if err != nil {
		return nil
	}
	if len(s.disk) > 2*mostBeside {
		clear(s.disk)
	}
	s.disk[path] = &diskFile{newUnit(uri, nil, text), info.Size(), info.ModTime()}
	return s.disk[path].unit
}

// diskFile is a file as it was read.
type diskFile struct {
	*unit
	size int64
	time time.Time
}

// set is a document and the schemas beside it that it needs, the document first.
func (s *server) set(u *unit) []*unit {
	set := []*unit{u}
	var others []*unit
	loaded := false
	for i := 0; i < len(set); i++ {
		for _, x := range set[i].names().uses {
			if declares(set, x.name) {
				continue
			}
			if !loaded {
				others, loaded = s.beside(u), true
			}
			if o := only(others, x.name); o != nil && !slices.Contains(set, o) {
				set = append(set, o)
			}
		}
	}
	return set
}

func declares(set []*unit, name string) bool {
	return slices.ContainsFunc(set, func(u *unit) bool { return u.names().declared[name] != nil })
}

// only is the one unit that declares a type; nil where there are several, between
// which nothing decides.
func only(units []*unit, name string) (found *unit) {
	for _, u := range units {
		if u.names().declared[name] != nil {
			if found != nil {
				return nil
			}
			found = u
		}
	}
	return found
}

// declaring is the unit of a set that declares a type.
func declaring(set []*unit, name string) *unit {
	for _, u := range set {
		if u.names().declared[name] != nil {
			return u
		}
	}
	return nil
}

// users are the units in which a type that a unit declares may be used: those whose
// sets have the unit.
func (s *server) users(of *unit, name string) []*unit {
	users := []*unit{of}
	for _, u := range s.beside(of) {
		if u.names().declared[name] != nil || !slices.ContainsFunc(u.names().uses, func(x use) bool { return x.name == name }) {
			continue
		}
		if slices.ContainsFunc(s.set(u), func(x *unit) bool { return x.uri == of.uri }) {
			users = append(users, u)
		}
	}
	return users
}
