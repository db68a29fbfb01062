package bwlife_test

import (
	"bytes"
	"encoding/gob"
	"maps"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"

	"github.com/fidelityframework/barewire-gen/analyzers/bwlife"
)

// TestFactsDeterministic: the go command has what packages say of themselves in the key of those that import them, so it has to be the
// same bytes each time.
func TestFactsDeterministic(t *testing.T) {
	pkgs, err := load("../testdata/life/help", "../testdata/life/held")
	if err != nil {
		t.Fatal(err)
	}
	var first map[string]string
	for range 3 {
		graph, err := checker.Analyze([]*analysis.Analyzer{bwlife.Analyzer}, pkgs, nil)
		if err != nil {
			t.Fatal(err)
		}
		now := map[string]string{}
		for act := range graph.All() {
			for _, f := range act.AllObjectFacts() {
				var b bytes.Buffer
				if err := gob.NewEncoder(&b).Encode(f.Fact); err != nil {
					t.Fatal(err)
				}
				now[f.Object.String()] += b.String()
			}
		}
		if first == nil {
			first = now
			if len(first) < 60 {
				t.Fatalf("%d facts: that is not all", len(first))
			}
		}
		if !maps.Equal(first, now) {
			for k, v := range first {
				if now[k] != v {
					t.Errorf("%s: another fact", k)
				}
			}
			t.Fatalf("%d facts, and %d", len(first), len(now))
		}
	}
}
