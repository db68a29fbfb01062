package golangci

import (
	"fmt"
	"go/token"
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"
)

// TestPlugin: golangci-lint finds it by its name, and gets both analyzers.
func TestPlugin(t *testing.T) {
	newPlugin, err := register.GetPlugin(Name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.BuildAnalyzers()
	if err != nil || len(list) != 2 {
		t.Fatalf("%d analyzers, %v", len(list), err)
	}
	if err := analysis.Validate(list); err != nil {
		t.Error(err)
	}
	if p.GetLoadMode() != register.LoadModeTypesInfo {
		t.Errorf("the load mode is %s", p.GetLoadMode())
	}
	if _, err := newPlugin(map[string]any{"strict": true}); err == nil {
		t.Error("settings that there are not are taken")
	}
}

// TestCodes: the code of a finding stands in its text, and so do the places that it speaks of.
func TestCodes(t *testing.T) {
	fset := token.NewFileSet()
	file := fset.AddFile("/x/made.go", -1, 10)
	file.AddLine(5)
	at := file.Pos(6)
	a := coded(&analysis.Analyzer{Name: "x", Doc: "x", Run: func(p *analysis.Pass) (any, error) {
		p.Report(analysis.Diagnostic{Pos: token.Pos(1), Category: "BW5001", Message: "it is made up", Related: []analysis.RelatedInformation{{Pos: at, Message: "here"}}})
		return nil, nil
	}})
	var got string
	if _, err := a.Run(&analysis.Pass{Analyzer: a, Fset: fset, Report: func(d analysis.Diagnostic) { got = d.Message + fmt.Sprint(d.Related) }}); err != nil || got != "it is made up [BW5001]; made.go:2: here[]" {
		t.Errorf("%q, %v", got, err)
	}
}
