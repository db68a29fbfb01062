// Package gen writes Go for compiled schemas. It is pure: the same schema and
// options give the same bytes, and it touches neither files, nor the clock, nor
// the environment.
package gen

import (
	"errors"
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/emit"
	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// Options are the user's choices. The zero value takes package names from the
// schema.
type Options struct {
	// Package is the Go package's name. Where there are several namespaces it
	// counts for the one whose files have no #@package. Empty, #@package counts.
	Package string
	// GoBare adds a companion file with the methods that programs written for
	// go-bare call.
	GoBare bool
	// NoViews leaves out views, slots and casts. Elements of regions are then
	// read and written whole.
	NoViews bool
	// Rename gives Go names to parts of the schema, as #@go(name=…) does: by type
	// ("User"), by field, member or value ("User.user_id"), or by the Go name of a
	// type that the schema does not name ("UserAddress").
	Rename map[string]string
}

// File is one Go file.
type File struct {
	Name    string // telemetry_bare.go, without a directory
	Source  string // the schema file that it comes from, as it was given
	Package string // the name in its package clause
	Content []byte
}

// InternalError is a fault of the generator: the schema was accepted, and the
// code could not be written. It carries what was written for a report of the bug.
type InternalError struct {
	Source string // the schema file
	Raw    []byte // the Go that does not parse; nil where it was not that
	Err    error
}

// Code is the code that the fault is reported with.
func (e *InternalError) Code() diag.Code { return diag.Internal }

func (e *InternalError) Error() string {
	return fmt.Sprintf("%s: this is a bug in barewire-gen, not in the schema: %v [%s]", e.Source, e.Err, diag.Internal)
}

func (e *InternalError) Unwrap() error { return e.Err }

// Check finds what Go would not accept (names that clash, types that are too
// large) and tells which names it had to change. Whoever has the list without
// errors gets Go that compiles.
func Check(s *schema.Schema, opts Options) diag.List {
	_, found := plans(s, opts)
	return found
}

// Go writes one file for each schema file, in the order given, and with GoBare
// its companion behind it. The error is a diag.List with what Check finds, or
// an *InternalError.
func Go(s *schema.Schema, opts Options) (files []File, err error) {
	ps, found := plans(s, opts)
	if err := found.Err(); err != nil {
		return nil, err
	}
	for _, p := range ps {
		outs, err := emit.Package(p)
		if err != nil {
			return nil, internal(err)
		}
		for _, o := range outs {
			files = append(files, File{Name: o.Name, Source: o.Source, Package: p.Name, Content: o.Content})
		}
	}
	return files, nil
}

func internal(err error) error {
	e := &InternalError{Err: err}
	var in *emit.Error
	if errors.As(err, &in) {
		e.Source, e.Err = in.Source, in.Err
	}
	var bad *gocode.FormatError
	if errors.As(err, &bad) {
		e.Raw = bad.Raw
	}
	return e
}

// plans plans each namespace.
func plans(s *schema.Schema, opts Options) ([]*plan.Package, diag.List) {
	var ps []*plan.Package
	var found diag.List
	names := map[string]bool{} // renames, by whether a namespace has what they name
	for _, ns := range s.Namespaces {
		o := plan.Options{GoBare: opts.GoBare, NoViews: opts.NoViews, Rename: opts.Rename}
		if ns.Package == "" || len(s.Namespaces) == 1 {
			o.Package = opts.Package
		}
		p, ds := plan.Make(ns, s.Layouts, o)
		for _, old := range p.Renamed {
			names[old] = true
		}
		ps, found = append(ps, p), append(found, ds...)
	}
	found = append(found, plan.UnknownRenames(opts.Rename, names)...)
	return ps, found
}

// GoName is what a field, member or value of a schema is called in Go, where
// #@go(name=…) and --rename say nothing: user_id is UserID.
func GoName(name string) string { return plan.Exported(name) }
