// Package bwsyntax finds what can be seen in a few lines of Go without following what happens:
// handles that are made without their allocator, zero values given to calls that cannot use them,
// types that are taken off through unsafe, reflect, assertions or go:linkname, memory of one schema that is taken for
// another's, references that are used for more than they were given for, addresses of devices that become pointers, slices over memory
// that a peer may change, what only generated code may call, and directives that are wrong.
//
// Values are followed through expressions, through variables that never get another value, and through calls whose directives say that a
// result is memory of an argument. What a generic function does with memory is looked at where its type arguments are known.
//
// What a handle is, it knows from //barewire:type directives alone, which
// travel in a fact: no import path is matched by name, so forks and vendored copies of the runtime work.
// The package that declares a type may do with it what it likes, and a package with //barewire:trust above its
// package clause may make zero values and use what is for generated code: it is part of the runtime, or
// a test of what such values do. In generated files only directives are looked at.
package bwsyntax

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/ignore"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// Analyzer is the analyzer.
var Analyzer = &analysis.Analyzer{
	Name: "bwsyntax",
	Doc: "find handles of barewire that are forged, or whose types are taken off\n\n" +
		"It reports regions that no allocator made, zero values in calls that cannot use them, detours through unsafe and reflect, " +
		"hand-made places, grants and references, memory of one schema taken for another's, pointers and slices over memory of devices and peers, and wrong //barewire: directives. `barewire-gen explain` has a page for each code.",
	Run:       run,
	FactTypes: []analysis.Fact{(*Known)(nil), (*Effects)(nil)},
}

// codes are those that this analyzer reports and an ignore may name.
var codes = []diag.Code{
	diag.ForgedHandle, diag.ZeroArgument, diag.Laundered, diag.NeverThatType, diag.MintedByHand,
	diag.OtherSchema, diag.TwoVersions, diag.MoreRights, diag.DeviceAddress, diag.PeerWritable,
}

// runtimes are those that a trusted package may have: it is the runtime, or a test of what it does.
var runtimes = []diag.Code{
	diag.ForgedHandle, diag.ZeroArgument, diag.MintedByHand, diag.MoreRights, diag.DeviceAddress, diag.PeerWritable, diag.TwoVersions,
}

func run(pass *analysis.Pass) (any, error) {
	r := &reader{pass: pass}
	r.read()
	known := knownOf(pass, r.own)
	if known == nil {
		return nil, nil // it has nothing to do with the runtime
	}
	c := &check{pass: pass, info: pass.TypesInfo, trusted: r.trusted, calls: r.calls, known: index(known, pass, r.calls), filter: ignore.New(pass, codes...)}
	var files []*ast.File
	for _, f := range pass.Files {
		if !ast.IsGenerated(f) {
			files = append(files, f)
			c.linknames(f)
		}
	}
	if len(files) > 0 {
		c.root = inspector.New(files).Root()
		c.visit(known)
	}
	c.export(known)
	c.filter.Done()
	return nil, nil
}

// check looks at one package.
type check struct {
	pass    *analysis.Pass
	info    *types.Info
	known   *lookup
	filter  *ignore.Filter
	trusted bool
	root    inspector.Cursor
	zeros   map[*types.Var]bool // local variables that never get a value
	defs    map[*types.Var]def  // what local variables hold, if they never get another value
	met     []meeting
	calls   map[*types.Func][]Effect // what functions of the package do, for those who import it
}

func (c *check) visit(known *Known) {
	var at inspector.Cursor
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("%s%v", c.where(at), p)) // a fault of ours: whoever runs the analyzer says so
		}
	}()
	c.variables()
	for cur := range c.root.Preorder((*ast.CompositeLit)(nil), (*ast.CallExpr)(nil), (*ast.ValueSpec)(nil), (*ast.StructType)(nil),
		(*ast.TypeSpec)(nil), (*ast.TypeAssertExpr)(nil), (*ast.TypeSwitchStmt)(nil), (*ast.Ident)(nil),
		(*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil)) {
		at = cur
		switch n := cur.Node().(type) {
		case *ast.CompositeLit:
			c.literal(cur, n)
			c.madeUp(n)
		case *ast.CallExpr:
			c.call(cur, n)
		case *ast.ValueSpec:
			c.variable(n)
		case *ast.StructType:
			c.fields(n)
		case *ast.TypeSpec:
			c.declared(n)
		case *ast.TypeAssertExpr:
			if n.Type != nil {
				c.asserted(n.X, n.Type)
			}
		case *ast.TypeSwitchStmt:
			c.switched(n)
		case *ast.Ident:
			c.minted(n)
		case *ast.AssignStmt:
			c.assigned(n)
		case *ast.IncDecStmt:
			c.tampered(n.X)
		}
	}
	at = inspector.Cursor{}
	c.instances()
	c.versions(known)
}

// where is the place of a node and the function that it is in, for reports of faults; "" if there is no node.
func (c *check) where(cur inspector.Cursor) string {
	if cur.Inspector() == nil || cur.Node() == nil {
		return ""
	}
	place := c.pass.Fset.Position(cur.Node().Pos()).String()
	for up := range cur.Enclosing((*ast.FuncDecl)(nil)) {
		return fmt.Sprintf("%s (%s): ", up.Node().(*ast.FuncDecl).Name.Name, place)
	}
	return place + ": "
}

// call sees to it that a call is a conversion, a built-in function's, or an ordinary one.
func (c *check) call(cur inspector.Cursor, n *ast.CallExpr) {
	fun := c.info.Types[n.Fun]
	switch {
	case fun.IsType():
		c.conversion(cur, n)
	case fun.IsBuiltin():
		c.builtin(n)
		if name := c.builtinName(n); name == "SliceData" || name == "StringData" || name == "Slice" || name == "String" {
			c.addressed(cur, n)
		}
	default:
		c.reflected(n)
		c.arguments(n)
		c.meets(n)
		c.narrowed(n)
		c.putInto(n)
		c.castOfBytes(n)
	}
}

// report reports a finding at a node.
func (c *check) report(code diag.Code, at ast.Node, also []analysis.RelatedInformation, format string, args ...any) {
	if c.trusted && slices.Contains(runtimes, code) {
		return
	}
	c.filter.Report(analysis.Diagnostic{
		Pos: at.Pos(), End: at.End(), Category: string(code), Message: fmt.Sprintf(format, args...), Related: also,
	})
}

// also is another place that a finding speaks of.
func also(pos, end token.Pos, format string, args ...any) []analysis.RelatedInformation {
	return []analysis.RelatedInformation{{Pos: pos, End: end, Message: fmt.Sprintf(format, args...)}}
}

// name is a type as messages show it: with the names of packages, and none for the package itself.
func (c *check) name(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == c.pass.Pkg {
			return ""
		}
		return p.Name()
	})
}
