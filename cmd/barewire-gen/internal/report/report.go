// Package report writes diagnostics: as text for people, one line each for
// simple tools, as JSON, as SARIF for code scanning, and as annotations for GitHub's.
//
// The first line of a diagnostic has the shape that the go command and clang
// print, so that editors find the place. What follows it is for people.
package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/terminal"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// Format is how diagnostics are written.
type Format string

// The formats that Write knows.
const (
	Text   Format = "text"   // a line, the place with carets, notes and help
	Short  Format = "short"  // the line only
	JSON   Format = "json"   // one document, described at Document
	SARIF  Format = "sarif"  // one log, of SARIF 2.1.0
	GitHub Format = "github" // one workflow command each
)

// Formats lists the formats in the order in which help shows them.
var Formats = []Format{Text, Short, JSON, SARIF, GitHub}

// IsMachine reports whether a program reads the format. Machine formats belong
// on the standard output, the others beside it.
func (f Format) IsMachine() bool { return f == JSON || f == SARIF || f == GitHub }

// IsFindings reports whether the format has findings and nothing else, so that no result of a command has a form in it.
func (f Format) IsFindings() bool { return f == SARIF || f == GitHub }

// Limit is how many errors the text and short formats show, and how many
// warnings and remarks beside them. The machine formats have all.
const Limit = 20

// Options selects how a list is written.
type Options struct {
	Format  Format
	Color   bool
	Width   int     // columns that sentences and lines of source may take, text only; 0: sentences are not broken
	Limit   int     // how many errors are shown; 0 is no limit
	Tool    string  // the command's name in the closing line
	Version string  // of the command; SARIF only
	Files   []File  // what was done to files; JSON only
	Mended  *Mended // what fixes were made; JSON only
	Git     string  // the ref of files whose names are REF:PATH, as git has them; SARIF only

	// Flows says that the related places of a finding are the path that leads to it; SARIF only.
	Flows bool
	// Scope names what a finding is in, as a function, for fingerprints that stay when lines move;
	// nil: the file. SARIF only.
	Scope func(*diag.Diagnostic) string
}

// Write writes the list. In the text and short formats an empty list writes
// nothing; JSON and SARIF are always a document. The error is the writer's.
func Write(w io.Writer, l diag.List, o Options) error {
	var buf bytes.Buffer
	switch o.Format {
	case JSON:
		writeJSON(&buf, l, o)
	case SARIF:
		writeSARIF(&buf, l, o)
	case GitHub:
		writeGitHub(&buf, l)
	case Short:
		shown, rest := cut(l, o.Limit)
		for _, d := range shown {
			fmt.Fprintln(&buf, terminal.Visible(d.String()))
		}
		if rest > 0 {
			fmt.Fprintf(&buf, "%s%s\n", count(l), notShown(rest))
		}
	default:
		writeText(&buf, l, o)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// notShown says how many findings are left out, and how to see them.
func notShown(rest int) string {
	if rest == 0 {
		return ""
	}
	return fmt.Sprintf("; %d not shown (--format=%s has all)", rest, JSON)
}

// cut returns what is shown of a list, at most limit errors and as many other
// findings, and how many are left out.
func cut(l diag.List, limit int) (shown diag.List, rest int) {
	if limit <= 0 {
		return l, 0
	}
	errs, others := 0, 0
	for _, d := range l {
		n := &others
		if d.Severity == diag.Error {
			n = &errs
		}
		if *n++; *n <= limit {
			shown = append(shown, d)
		}
	}
	return shown, len(l) - len(shown)
}

// tally is how many findings of each severity a list has.
type tally struct{ errors, warnings, infos int }

func tallyOf(l diag.List) (n tally) {
	for _, d := range l {
		switch d.Severity {
		case diag.Error:
			n.errors++
		case diag.Warning:
			n.warnings++
		default:
			n.infos++
		}
	}
	return n
}

// count says how many there are: "2 errors, 1 warning".
func count(l diag.List) string {
	var parts []byte
	add := func(n int, noun string) {
		if n == 0 {
			return
		}
		if len(parts) > 0 {
			parts = append(parts, ", "...)
		}
		if n != 1 {
			noun += "s"
		}
		parts = fmt.Appendf(parts, "%d %s", n, noun)
	}
	n := tallyOf(l)
	add(n.errors, "error")
	add(n.warnings, "warning")
	add(n.infos, "remark")
	return string(parts)
}
