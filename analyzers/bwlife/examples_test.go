package bwlife_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/analyzers/bwlife"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// given is what examples take for granted, where they do not define it.
var given = [][2]string{
	{"ctx", "context.Context"}, {"dom", "*rdma.Domain"}, {"domA", "*rdma.Domain"}, {"dev", "*rdma.Device"}, {"conn", "*rdma.Conn"},
	{"r", "*SampleRegion"}, {"mr", "*barewire.Region[Sample, barewire.CPU, barewire.RemoteRead]"},
	{"here", "*barewire.Region[Sample, barewire.CPU, barewire.Local]"}, {"there", "*barewire.Region[Sample, barewire.CPU, barewire.RemoteReadWrite]"},
	{"rem", "barewire.Remote[Sample, barewire.RemoteReadWrite]"}, {"op", "rdma.Op"}, {"n", "int"}, {"addr", "string"},
	{"m", "*Managed"}, {"s", "*Shared"}, {"v", "*Sample"}, {"shared", "*barewire.Region[Sample, barewire.CXLShared, barewire.Unregistered]"},
}

// TestExamples holds what explain shows to the truth: in the wrong example of each rule it is found, and in the right one
// it is not.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip(bwlife.OneGoroutine)
	}
	dir, err := os.MkdirTemp(filepath.Dir(corpusDir), "examples")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	sample, err := os.ReadFile(filepath.Join(corpusDir, "sample/sample_bare.go"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString(exampleHead)
	var rules []*diag.Rule
	for _, r := range diag.Rules() {
		if r.Code < "BW5101" || r.Code > "BW5199" {
			continue
		}
		rules = append(rules, r)
		text.WriteString(exampleFunc("Wrong", r.Code, r.Wrong) + exampleFunc("Right", r.Code, r.Right))
	}
	for name, text := range map[string]string{
		"sample_bare.go": strings.NewReplacer("Tick", "Sample", "Price", "Celsius").Replace(string(sample)),
		"examples.go":    text.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pkgs, err := load("./" + dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	defer bwlife.Analyzer.Flags.Set("joins", "false")
	if err := bwlife.Analyzer.Flags.Set("joins", "true"); err != nil {
		t.Fatal(err)
	}
	actions, err := look(pkgs)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, d := range actions[0].Diagnostics {
		found[functionOf(actions[0].Package, d)+" "+d.Category] = true
	}
	for _, r := range rules {
		if !found[exampleName("Wrong", r.Code)+" "+string(r.Code)] {
			t.Errorf("%s: it is not found in its wrong example:\n%s", r.Code, r.Wrong)
		}
		if found[exampleName("Right", r.Code)+" "+string(r.Code)] {
			t.Errorf("%s: it is found in its right example:\n%s", r.Code, r.Right)
		}
	}
	if len(rules) < 20 {
		t.Errorf("only %d rules", len(rules))
	}
}

const exampleHead = `package sample

import (
	"context"
	"errors"
	"fmt"
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/numa"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	. "github.com/fidelityframework/barewire-gen/analyzers/testdata/life/later"
)

type SampleRegion = barewire.Region[Sample, barewire.CPU, barewire.Unregistered]

func serve(mr *barewire.Region[Sample, barewire.CPU, barewire.RemoteRead]) { fmt.Println(mr.Span(0, 1)) }

var (
	_ sync.WaitGroup
	_ = cxl.Open
	_ = numa.Pin
	_ = errors.Join
	_ context.Context
)
`

func exampleName(kind string, code diag.Code) string {
	return kind + strings.TrimPrefix(string(code), "BW")
}

var definedRE = regexp.MustCompile(`(?m)^(?:var )?([\w, ]+?) (?::=|sync)`)

// exampleFunc makes a function of an example. One that is a function already gets a name of its own.
func exampleFunc(kind string, code diag.Code, text string) string {
	if strings.HasPrefix(text, "//barewire:") {
		return "\n" + strings.Replace(text, "Drop", exampleName(kind, code), 1)
	}
	if strings.Contains(text, "(w, ") && !strings.Contains(text, "w, err :=") {
		region := "mr"
		if strings.Contains(text, "there") {
			region = "there"
		}
		text = "w, err := barewire.Open(" + region + ")\n" + text
	}
	var defined []string
	for _, m := range definedRE.FindAllStringSubmatch(text, -1) {
		defined = append(defined, strings.Split(m[1], ", ")...)
	}
	slices.Sort(defined)
	var params, uses []string
	for _, g := range given {
		if !slices.Contains(defined, g[0]) {
			params = append(params, g[0]+" "+g[1])
		}
	}
	for _, d := range slices.Compact(defined) {
		if d != "_" && d != "err" && d != "wg" {
			uses = append(uses, "_ = "+d)
		}
	}
	return fmt.Sprintf("\nfunc %s(%s) (err error) {\n%s%s\nreturn nil\n}\n", exampleName(kind, code), strings.Join(params, ", "), text, strings.Join(uses, "\n"))
}
