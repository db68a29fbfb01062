package report

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// writeGitHub writes workflow commands, one for each finding, which GitHub Actions shows beside the lines of a change
// (docs.github.com, "Workflow commands for GitHub Actions").
func writeGitHub(buf *bytes.Buffer, l diag.List) {
	for _, d := range l {
		level := map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning"}[d.Severity]
		if level == "" {
			level = "notice"
		}
		var place string
		if s := d.Primary.Span; s.IsValid() {
			from, to := s.Pos(), s.File.Position(s.End, source.Bytes)
			place = fmt.Sprintf("file=%s,line=%d,endLine=%d,", property.Replace(filepath.ToSlash(s.File.Name())), from.Line, to.Line)
			if from.Line == to.Line { // the columns of a longer run would be refused
				place += fmt.Sprintf("col=%d,endColumn=%d,", from.Column, to.Column)
			}
		}
		text := d.Message
		for _, r := range d.Related {
			if r.Span.IsValid() {
				text += fmt.Sprintf("\n%s:%d: %s", filepath.ToSlash(r.Span.File.Name()), r.Span.Pos().Line, r.Text)
			}
		}
		for _, n := range d.Notes {
			text += "\nnote: " + n
		}
		for _, h := range d.Help {
			text += "\nhelp: " + h
		}
		fmt.Fprintf(buf, "::%s %stitle=%s::%s\n", level, place, property.Replace(string(d.Code)+" "+d.Code.Rule().Name), data.Replace(text))
	}
}

// What has a meaning of its own in a command is escaped, so that no text of a file can end it and begin another.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
