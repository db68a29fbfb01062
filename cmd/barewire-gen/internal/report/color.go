package report

import "github.com/fidelityframework/barewire-gen/schema/diag"

// style is the parameters of an ANSI "select graphic rendition" sequence.
type style string

const (
	plain    style = ""
	bold     style = "1"
	red      style = "1;31"
	yellow   style = "1;33"
	cyan     style = "1;36"
	frame    style = "34" // line numbers and the bar
	helpTone style = "32"
)

// paint colors text, or leaves it alone where it is false.
type paint bool

func (p paint) in(s style, text string) string {
	if !p || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func toneOf(s diag.Severity) style {
	switch s {
	case diag.Error:
		return red
	case diag.Warning:
		return yellow
	}
	return cyan
}
