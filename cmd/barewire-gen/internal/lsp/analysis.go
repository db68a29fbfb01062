package lsp

import (
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// namesChecked is up to how many declarations what generate would say about Go names is
// asked while somebody types. Of more it takes seconds; `check` and `generate` tell.
const namesChecked = 1000

// compileDirty begins to compile each document that has changed.
func (s *server) compileDirty() {
	for _, d := range s.docs {
		if d.dirty && !d.busy {
			s.compile(d)
		}
	}
}

// compile compiles a document beside the goroutine that answers. What it works on does
// not change.
func (s *server) compile(d *document) {
	d.dirty, d.busy = false, true
	of, set := d.unit, s.set(d.unit)
	// In the order that a directory's schemas have for all commands: what is used before it is declared is the same then.
	slices.SortFunc(set, func(a, b *unit) int { return strings.Compare(a.name, b.name) })
	parsed := make([]schema.Parsed, len(set))
	uris := make(map[*source.File]string, len(set))
	for i, u := range set {
		parsed[i], uris[u.file] = *u.tree(), u.uri
	}
	go func() {
		var compiled *schema.Schema
		var found diag.List
		defer func() {
			p := recover()
			select {
			case s.done <- func() {
				d.busy = false
				if p != nil {
					d.answerWaiting()
					panic(p)
				}
				d.schema, d.found, d.of, d.uris = compiled, found, of, uris
				s.publish(d)
				d.answerWaiting()
			}:
			case <-s.ctx.Done():
			}
		}()
		compiled, found = schema.AnalyzeParsed(parsed, schema.Options{})
		if !found.HasErrors() {
			found = append(found, schema.Lint(compiled)...)
		}
		if len(compiled.Order) <= namesChecked && !found.HasErrors() {
			found = append(found, gen.Check(compiled, gen.Options{Package: anyPackage(compiled)})...)
		}
	}()
}

// anyPackage is a stand-in where no file names its package; the name matters only to
// what is written.
func anyPackage(s *schema.Schema) string {
	if len(s.Namespaces) == 1 && s.Namespaces[0].Package != "" {
		return ""
	}
	return "schema"
}

func (d *document) answerWaiting() {
	waiting := d.waiting
	d.waiting = nil
	for _, f := range waiting {
		f()
	}
}

// publish sends what was found in a document. A result for a text that is older than
// the document's is not sent: its places may have moved, and a newer one is coming.
func (s *server) publish(d *document) {
	if s.docs[d.uri] != d || d.of != d.unit {
		return
	}
	p := publishDiagnosticsParams{URI: d.uri, Version: d.version, Diagnostics: []lspDiagnostic{}}
	for _, f := range s.shown(d) {
		p.Diagnostics = append(p.Diagnostics, s.diagnostic(d, f))
	}
	s.notify("textDocument/publishDiagnostics", p)
}

// shown are the findings in a document itself, without those that say that a type is
// unused which a schema beside it uses: one that needs the document, which does not need it.
func (s *server) shown(d *document) (list diag.List) {
	var beside map[string]bool
	for _, f := range d.found {
		if f.Primary.Span.File != d.of.file {
			continue
		}
		if f.Code == diag.UnusedType {
			if beside == nil {
				beside = s.usedBeside(d.of)
			}
			if beside[f.Primary.Span.Text()] {
				continue
			}
		}
		list = append(list, f)
	}
	return list
}

// usedBeside are the names of types that schemas use which need a unit.
func (s *server) usedBeside(of *unit) map[string]bool {
	used := map[string]bool{}
	for _, u := range s.beside(of) {
		if slices.ContainsFunc(s.set(u), func(x *unit) bool { return x.uri == of.uri }) {
			for _, x := range u.names().uses {
				used[x.name] = true
			}
		}
	}
	return used
}

// diagnostic is a finding in the protocol's words.
func (s *server) diagnostic(d *document, f *diag.Diagnostic) lspDiagnostic {
	x := lspDiagnostic{
		Range: spanOf(f.Primary.Span), Severity: int(f.Severity) + 1, Code: string(f.Code), Source: "barewire-gen", Message: f.Message,
	}
	var more []string
	if f.Primary.Text != "" {
		more = append(more, f.Primary.Text)
	}
	for _, n := range f.Notes {
		more = append(more, "note: "+n)
	}
	for _, h := range f.Help {
		more = append(more, "help: "+h)
	}
	if len(more) > 0 {
		x.Message += "\n" + strings.Join(more, "\n")
	}
	for _, l := range f.Related {
		if uri := d.uris[l.Span.File]; uri != "" {
			x.RelatedInformation = append(x.RelatedInformation, relatedInformation{location{uri, spanOf(l.Span)}, l.Text})
		}
	}
	if s.o.Rules != "" {
		x.CodeDescription = &codeDescription{s.o.Rules + "#" + strings.ToLower(string(f.Code)) + "-" + f.Code.Rule().Name}
	}
	return x
}
