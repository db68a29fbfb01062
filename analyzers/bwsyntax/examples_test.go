package bwsyntax_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/vettest"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// TestExamplesOfRules holds what explain shows to the truth: the wrong example of each rule has its fault and no other, and the right one
// has none. An example is statements, or declarations that begin with a directive.
func TestExamplesOfRules(t *testing.T) {
	if testing.Short() {
		t.Skip(oneGoroutine)
	}
	generated, err := os.ReadFile("testdata/quote/quote_bare.go")
	if err != nil {
		t.Fatal(err)
	}
	sample := strings.NewReplacer("Quote", "Sample", "package quote", "package sample").Replace(string(generated))
	older := regexp.MustCompile(`@sha256:....|Hash: \[32\]byte\{\s+0x.., 0x..`).ReplaceAllStringFunc(sample, func(hash string) string {
		return hash[:len(hash)-4] + map[bool]string{true: "0000", false: "0x00"}[hash[0] == '@']
	})
	// In the module, so that it is built against the runtime beside it.
	dir, err := os.MkdirTemp("testdata", "examples")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	// All are looked at together: it takes the go command a second to begin.
	write(t, filepath.Join(dir, "older", "sample_bare.go"), older)
	var all []string
	texts, rules := map[string]string{}, map[string]*diag.Rule{}
	for _, r := range diag.Rules() {
		if r.Code < "BW5001" || r.Code > "BW5099" {
			continue
		}
		for name, text := range map[string]string{"wrong": r.Wrong, "right": r.Right} {
			pkg := filepath.Join(dir, strings.ToLower(string(r.Code))+name)
			write(t, filepath.Join(pkg, "sample_bare.go"), sample)
			write(t, filepath.Join(pkg, "example.go"), strings.ReplaceAll(example(text), "OLDER", module+filepath.ToSlash(dir)+"/older"))
			all = append(all, "./"+filepath.ToSlash(pkg))
			texts[filepath.Base(pkg)], rules[filepath.Base(pkg)] = text, r
		}
	}
	found := map[string]int{}
	for _, f := range vettest.Vet(t, all...) {
		name := filepath.Base(filepath.Dir(f.Posn))
		found[name]++
		if r := rules[name]; strings.HasSuffix(name, "right") || f.Category != string(r.Code) && r.Code != diag.IgnoreNoReason {
			t.Errorf("%s: %s [%s]\n%s", name, f.Message, f.Category, texts[name])
		}
	}
	for name, text := range texts {
		if strings.HasSuffix(name, "wrong") && found[name] == 0 {
			t.Errorf("%s: nothing is found in\n%s", name, text)
		}
	}
	if seen := len(rules) / 2; seen < 16 {
		t.Errorf("only %d rules", seen)
	}
}

// module is where the examples lie.
const module = "github.com/fidelityframework/barewire-gen/analyzers/bwsyntax/"

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// example makes a file of an example: what it takes for granted is declared around it.
func example(text string) string {
	const head = `package sample

import (
	"context"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	older "OLDER"
)

type SampleRegion = barewire.Region[Sample, barewire.CPU, barewire.Unregistered]

var (
	ctx    context.Context
	dom    *rdma.Domain
	conn   *rdma.Conn
	region *SampleRegion
	cpu    *SampleRegion
	gpu    *barewire.Region[Sample, barewire.GPU, barewire.Local]
	info   barewire.TypeInfo
	sample *Sample

	shared   *barewire.Region[Sample, barewire.CPU, barewire.RemoteRead]
	writable *barewire.Region[Sample, barewire.CPU, barewire.RemoteWrite]
	readable barewire.Remote[Sample, barewire.RemoteRead]
	n      = 1
	_      unsafe.Pointer
	_      older.Sample
)

type Other struct{ Number uint64 }

//barewire:schema sample.Other@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
func (Other) Layout() {}

type (
	deal      struct{}
	described struct {
		Name string
		Hash [32]byte
	}
)

func use(...any) {}
`
	if strings.HasPrefix(text, "//barewire:") {
		if text = head + "\n" + strings.TrimRight(text, "\n"); strings.HasSuffix(text, "}") {
			return text + "\n"
		}
		return text + " { return r.Close() }\n"
	}
	// The names that the example declares are used behind it.
	var names []string
	declared := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		left, _, ok := strings.Cut(line, ":=")
		if name, isVar := strings.CutPrefix(line, "var "); isVar {
			left, _, _ = strings.Cut(name, " ")
		} else if !ok {
			continue
		}
		for name := range strings.SplitSeq(left, ",") {
			if name = strings.TrimSpace(name); name != "_" && !declared[name] {
				declared[name] = true
				names = append(names, name)
			}
		}
	}
	return head + fmt.Sprintf("\nfunc example(none barewire.Place[Sample, barewire.CPU]) {\n%s\n\tuse(%s)\n}\n", strings.ReplaceAll(text, "barewire.New(none", "barewire.New(barewire.Place[Sample, barewire.CPU]{}"), strings.Join(names, ", "))
}
