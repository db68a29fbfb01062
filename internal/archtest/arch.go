// Package archtest holds the rules on who may import whom, and a test that
// refuses the rest. docs/architecture.md draws them. Another test follows the pages' links.
package archtest

import (
	"fmt"
	"slices"
	"strings"
)

const module = "github.com/fidelityframework/barewire-gen"

// Package is what the rules look at: a package of this module, by its path
// below the module, and what it imports. Tests do not count.
type Package struct {
	Path    string   // "schema/ast"
	Imports []string // full import paths
	Deps    []string // the same, through all levels
}

// chain is the order of the front end's packages: each may import those before
// it.
var chain = []string{"schema/source", "schema/diag", "schema/ast", "schema/parser", "schema/resolve", "schema/layout"}

// tops is what may stand at the top of the module. Other modules in this
// repository (bench, internal/tools) are not looked at.
var tops = []string{"cmd", "schema", "gen", "runtime", "analyzers", "internal", "examples", "lab"}

// testKit has the tests that a provider of RDMA runs on itself. Its users are tests,
// as those of net/http/httptest are.
const testKit = "runtime/rdma/rdmatest"

// gpuKit is the same for providers of GPUs.
const gpuKit = "runtime/gpu/gputest"

// summary has what the lab prints, as make test does.
const summary = "internal/testsum/summary"

// homes says where a library of others may be imported.
var homes = map[string]string{
	"golang.org/x/tools":          "analyzers", // and cmd: see alsoAt
	"github.com/spf13/cobra":      "cmd",
	"github.com/spf13/pflag":      "cmd",
	"github.com/rivo/uniseg":      "cmd",
	"github.com/dave/jennifer":    "gen/internal",
	"git.sr.ht/~sircmpwn/go-bare": "internal",
	"pgregory.net/rapid":          "internal",
	"testing":                     "internal",
}

// bindings says which providers may depend on a library of others, each its one: whoever links the provider gains it, and
// nobody else.
var bindings = map[string][]string{
	"github.com/ebitengine/purego": {"runtime/rdma/verbs", "runtime/gpu/cuda", "runtime/gpu/opencl", "runtime/internal/dl"},
}

// bound reports whether a package is of a provider that has a library as its binding.
func bound(path, dep string) bool {
	for lib, providers := range bindings {
		if !within(dep, lib) {
			continue
		}
		for _, p := range providers {
			if within(path, p) {
				return true
			}
		}
	}
	return false
}

// Violations returns what a package does against the rules, one sentence each.
func Violations(p Package) (bad []string) {
	say := func(format string, args ...any) { bad = append(bad, p.Path+": "+fmt.Sprintf(format, args...)) }
	if top, _, _ := strings.Cut(p.Path, "/"); !slices.Contains(tops, top) {
		say("no place in the house; the top level is %s", strings.Join(tops, ", "))
	}
	for _, im := range p.Imports {
		if own, ok := strings.CutPrefix(im, module+"/"); ok {
			if why := refused(p.Path, own); why != "" {
				say("imports %s: %s", own, why)
			}
			continue
		}
		for lib, home := range homes {
			if within(im, lib) && !within(p.Path, home) && !alsoAt(p.Path, lib) {
				say("imports %s, which belongs to %s only", im, home)
			}
		}
	}
	for _, dep := range p.Deps {
		own, isOwn := strings.CutPrefix(dep, module+"/")
		fine := within(own, "runtime")
		if !isOwn {
			fine = isStd(dep) || within(dep, "golang.org/x/sys") || bound(p.Path, dep)
		}
		switch {
		case within(p.Path, "runtime") && !fine:
			say("depends on %s; whoever links the runtime must not gain it", dep)
		case within(p.Path, "cmd") && (within(dep, "git.sr.ht/~sircmpwn/go-bare") || dep == "testing"):
			say("depends on %s, which is for tests", dep)
		}
	}
	return bad
}

// alsoAt has what is not at home where it is imported, and may be.
func alsoAt(path, lib string) bool {
	switch lib {
	case "testing":
		return path == testKit || path == gpuKit
	case "golang.org/x/tools":
		return within(path, "cmd")
	}
	return false
}

// refused says why one package of ours may not import another, or nothing.
func refused(from, to string) string {
	if within(to, "cmd") && !within(from, "cmd") {
		return "nobody imports cmd"
	}
	if within(to, "lab") && !within(from, "lab") {
		return "nobody imports lab"
	}
	if within(to, "internal") && !within(from, "internal") && (!within(from, "lab") || to != summary) {
		return "internal/ is for tests"
	}
	if within(to, "examples") {
		return "examples are programs"
	}
	for _, kit := range []string{testKit, gpuKit} {
		if within(to, kit) && !within(from, kit) {
			return "it is for tests"
		}
	}
	switch {
	case within(from, "schema"):
		if !within(to, "schema") {
			return "schema knows schema only"
		}
		return refusedInSchema(from, to)
	case within(from, "gen"):
		if !within(to, "gen") && !within(to, "schema") {
			return "gen knows schema only"
		}
	case within(from, "runtime"):
		if !within(to, "runtime") {
			return "the runtime stands alone"
		}
		return refusedInRuntime(from, to)
	case within(from, "analyzers"):
		if !within(to, "analyzers") && !within(to, "schema/diag") && !within(to, "schema/source") {
			return "analyzers know schema/diag only"
		}
	case within(from, "lab"):
		if !within(to, "lab") && to != summary {
			return "the lab is given what it tests as programs; what is in a guest is tests"
		}
	case within(from, "examples"):
		if !within(to, "runtime") && !within(to, "examples") {
			return "an example uses what users use"
		}
	}
	return ""
}

// refusedInSchema holds the front end to its order.
func refusedInSchema(from, to string) string {
	rank := slices.Index(chain, to)
	switch from {
	case "schema":
		return ""
	case "schema/printer":
		if rank < 0 || to > "schema/ast" && to != "schema/diag" && to != "schema/source" {
			return "the printer knows the tree only"
		}
		return ""
	case "schema/lint", "schema/compat":
		if rank < 0 {
			return "it stands behind the layout, and beside what it imports"
		}
		return ""
	}
	at := slices.Index(chain, from)
	switch {
	case at < 0:
		return "this package has no place in the order of the front end"
	case rank < 0 || rank >= at:
		return "the order is " + strings.Join(chain, " <- ")
	}
	return ""
}

// refusedInRuntime holds the runtime to its order: wire, regions, verbs, and providers below nobody.
func refusedInRuntime(from, to string) string {
	switch {
	case within(from, "runtime/wire"):
		return "the codec links nothing else of ours"
	case within(from, "runtime/platform"):
		return "what reads the machine links nothing else of ours"
	case from == "runtime" && (within(to, "runtime/rdma") || within(to, "runtime/gpu") || within(to, "runtime/numa") || within(to, "runtime/cxl")):
		return "regions know of no devices"
	case (within(from, "runtime/numa") || within(from, "runtime/cxl")) && (within(to, "runtime/rdma") || within(to, "runtime/gpu")):
		return "allocators know of nobody who registers their memory"
	case within(from, "runtime/numa") && within(to, "runtime/cxl"):
		return "nodes know of no pools"
	}
	for _, of := range []string{"runtime/rdma/", "runtime/gpu/"} {
		if name, ok := strings.CutPrefix(to, of); ok {
			name, _, _ = strings.Cut(name, "/")
			if name != "internal" && !within(from, of+name) {
				return "a provider is imported by programs only"
			}
		}
	}
	return ""
}

// within reports whether a path is a package or lies below it.
func within(path, base string) bool {
	return path == base || strings.HasPrefix(path, base+"/")
}

// isStd reports whether an import path is the standard library's: its first
// element has no dot.
func isStd(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
