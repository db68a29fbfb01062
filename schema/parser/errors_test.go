package parser

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestErrors holds the words, the place and the number of diagnostics for each
// mistake. Where the error says what to write instead, that stands behind "=>".
func TestErrors(t *testing.T) {
	for _, test := range mistakes {
		if got := summary(source.NewFile("f", []byte(test.in))); got != test.want {
			t.Errorf("%q\n got %s\nwant %s", test.in, got, test.want)
		}
	}
}

// summary has a line for each diagnostic: place, code, message, the other places, help.
func summary(f *source.File) string {
	var lines []string
	_, errs := Parse(f)
	for _, d := range errs {
		at := d.Primary.Span.Pos()
		line := fmt.Sprintf("%d:%d %s %s", at.Line, at.Column, d.Code, d.Message)
		for _, r := range d.Related {
			at := r.Span.Pos()
			line += fmt.Sprintf(" (%d:%d %s)", at.Line, at.Column, r.Text)
		}
		for _, h := range d.Help {
			line += " => " + h
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestMessageStyle: one clause, lower case, no final stop.
func TestMessageStyle(t *testing.T) {
	bad := regexp.MustCompile(`^[A-Z][a-z]|[.!]$|illegal|invalid`)
	for _, test := range mistakes {
		_, errs := Parse(source.NewFile("f", []byte(test.in)))
		for _, d := range errs {
			for _, s := range append(append([]string{d.Message}, d.Help...), d.Notes...) {
				if bad.MatchString(s) || s == "" {
					t.Errorf("%q: %q", test.in, s)
				}
			}
			if d.Code.Rule().Title == "" || d.Code.Rule().Name == "unregistered" {
				t.Errorf("%s is not registered", d.Code)
			}
		}
	}
}
