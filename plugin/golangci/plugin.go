// Package golangci makes the analyzers a module plugin of golangci-lint, under the name barewire. A build of
// golangci-lint that imports it has them beside its own linters:
//
//	linters:
//	  enable: [barewire]
//	  settings:
//	    custom:
//	      barewire:
//	        type: module
//
// It is a module of its own: who uses the runtime or the generator does not get golangci-lint's.
package golangci

import (
	"fmt"
	"path/filepath"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers"
)

// Name is what the linter is called in golangci-lint's configuration.
const Name = "barewire"

func init() { register.Plugin(Name, New) }

// New makes the plugin. It has no settings: whatever is given is an error.
func New(settings any) (register.LinterPlugin, error) {
	if _, err := register.DecodeSettings[struct{}](settings); err != nil {
		return nil, err
	}
	return plugin{}, nil
}

// plugin is what golangci-lint asks for its analyzers.
type plugin struct{}

// BuildAnalyzers are all that `barewire-gen vet` runs.
func (plugin) BuildAnalyzers() (list []*analysis.Analyzer, err error) {
	for _, a := range analyzers.All() {
		list = append(list, coded(a))
	}
	return list, nil
}

// GetLoadMode says that they need types.
func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }

// coded is an analyzer whose messages have their codes, and the places that they speak of: golangci-lint shows no categories, its
// exclusions go by the text, and it would take each related place for a finding of its own.
func coded(a *analysis.Analyzer) *analysis.Analyzer {
	with := *a
	with.Run = func(p *analysis.Pass) (any, error) {
		pass := *p
		pass.Report = func(d analysis.Diagnostic) {
			d.Message += " [" + d.Category + "]"
			for _, r := range d.Related {
				at := p.Fset.Position(r.Pos)
				d.Message += fmt.Sprintf("; %s:%d: %s", filepath.Base(at.Filename), at.Line, r.Message)
			}
			d.Related = nil
			p.Report(d)
		}
		return a.Run(&pass)
	}
	return &with
}
