package bwlife

import (
	"fmt"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// compare holds the effects that a function's directive declares to what its body does: callers believe the directive. What
// is not known of the body is not held against it.
func (a *analyzer) compare(fn *ssa.Function, said, does *facts.Func) {
	if a.believed[fn.Object()] {
		return
	}
	for _, p := range does.Params {
		if p.Path != "" || p.Index >= len(fn.Params) {
			continue
		}
		what, ok := said.Param(p.Index, "")
		if !ok {
			continue
		}
		how := ends(p.Cases)
		name := fn.Params[p.Index].Name()
		switch declared := ends(what.Cases); {
		case how != "" && declared == "":
			a.lie(fn, fmt.Sprintf("`%s` is ended, and the directive of %s does not say so", name, how))
		case how == "" && declared != "" && !given(p.Cases):
			a.lie(fn, fmt.Sprintf("`%s` is not ended, and the directive of %s says so; where the body cannot show it, add //barewire:trust and why", name, fn.Name()))
		}
	}
}

func (a *analyzer) lie(fn *ssa.Function, text string) {
	a.reports = append(a.reports, report{code: diag.LyingDirective, pos: fn.Pos(), text: text})
}

// ends is what ends the parameter in one of the cases, "" if nothing does.
func ends(cases []facts.Case) string {
	for _, c := range cases {
		if c.Post == facts.Released || c.Post == facts.Moved {
			return c.How
		}
	}
	return ""
}

// given reports whether the parameter goes where nothing is known of it, in one of the cases.
func given(cases []facts.Case) bool {
	for _, c := range cases {
		if c.Post == facts.Kept || c.Post == facts.Unknown {
			return true
		}
	}
	return len(cases) == 0
}
