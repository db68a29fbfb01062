package difftest

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// sarifLog is what the tests look at in a log.
type sarifLog struct {
	Runs []struct {
		Results []sarifResult `json:"results"`
	} `json:"runs"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	Level        string            `json:"level"`
	Related      []any             `json:"relatedLocations"`
	Flows        []any             `json:"codeFlows"`
	Fixes        []any             `json:"fixes"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

// TestSARIF holds logs of vet and of check to the standard's own schema, and vet's to what they are to have.
func TestSARIF(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and vets modules")
	}
	node := scratch.NeedTool(t, "node", "Node.js 20 or later")
	if _, err := os.Stat(filepath.Join("node_modules", "@microsoft", "jest-sarif")); err != nil {
		scratch.SkipOrFail(t, "the SARIF schema is not installed: run make deps")
	}
	root := scratch.Root(t)
	tool := filepath.Join(t.TempDir(), "barewire-gen")
	build := exec.Command("go", "build", "-o", tool, "./cmd/barewire-gen")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	m := scratch.New(t, "", "")
	copyPackage(t, m, "life", filepath.Join(root, "analyzers/testdata/life/bad"), false)
	copyPackage(t, m, "syntax", filepath.Join(root, "analyzers/bwsyntax/testdata/bad"), false)
	m.Write("clean/clean.go", []byte("package clean\n"))
	vet := []string{"vet", "--format=sarif", "./life", "./syntax"}
	found := logOf(t, m.Dir, tool, vet...)
	invalid, err := filepath.Glob(filepath.Join(root, "testdata/corpus/invalid/*.bare"))
	if err != nil || len(invalid) < 20 {
		t.Fatalf("%d invalid schemas, %v", len(invalid), err)
	}
	logs := map[string][]byte{
		"vet":   found,
		"clean": logOf(t, m.Dir, tool, "vet", "--format=sarif", "./clean"),
		"check": logOf(t, m.Dir, tool, append([]string{"check", "--format=sarif"}, invalid...)...),
		"wrong": []byte(`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"level": "bad"}]}]}`),
	}
	for name, wrong := range validate(t, node, logs) {
		if (name == "wrong") != (len(wrong) > 0) {
			t.Errorf("%s: the schema finds %v", name, wrong)
		}
	}
	whole(t, found)

	// The same mistakes on other lines.
	copyPackage(t, m, "life", filepath.Join(root, "analyzers/testdata/life/bad"), true)
	copyPackage(t, m, "syntax", filepath.Join(root, "analyzers/bwsyntax/testdata/bad"), true)
	moved := logOf(t, m.Dir, tool, vet...)
	if bytes.Equal(moved, found) {
		t.Fatal("nothing has moved")
	}
	was, is := fingerprints(t, found), fingerprints(t, moved)
	if !maps.Equal(was, is) {
		for p, rule := range was {
			if is[p] == "" {
				t.Errorf("a finding of %s has lost its fingerprint", rule)
			}
		}
	}
}

// copyPackage copies a package of the corpus into a module. With moved, a comment is put behind each line that opens a block,
// and some before the package.
func copyPackage(t *testing.T, m *scratch.Module, to, from string, moved bool) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no Go files in %s, %v", from, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if moved {
			text = append([]byte("// One more.\n\n"), bytes.ReplaceAll(text, []byte(" {\n"), []byte(" {\n// One more.\n"))...)
		}
		m.Write(to+"/"+filepath.Base(name), text)
	}
}

// logOf is what the tool writes. It may find something.
func logOf(t *testing.T, dir, tool string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tool, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var code *exec.ExitError
	if err != nil && (!errors.As(err, &code) || code.ExitCode() != 1) {
		t.Fatalf("%s: %v\n%s", strings.Join(args[:2], " "), err, errs.Bytes())
	}
	return out
}

// validate holds logs to the schema, and gives what is wrong in each.
func validate(t *testing.T, node string, logs map[string][]byte) map[string][]any {
	t.Helper()
	dir, names := t.TempDir(), slices.Sorted(maps.Keys(logs))
	args := []string{"sarif.mjs"}
	for _, name := range names {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, logs[name], 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	out, err := exec.CommandContext(t.Context(), node, args...).CombinedOutput()
	var all [][]any
	if err != nil || json.Unmarshal(out, &all) != nil || len(all) != len(names) {
		t.Fatalf("the validator: %v\n%s", err, out)
	}
	wrong := map[string][]any{}
	for i, name := range names {
		wrong[name] = all[i]
	}
	return wrong
}

func results(t *testing.T, text []byte) []sarifResult {
	t.Helper()
	var log sarifLog
	if err := json.Unmarshal(text, &log); err != nil || len(log.Runs) != 1 {
		t.Fatalf("no log: %v", err)
	}
	return log.Runs[0].Results
}

// whole holds the log of the corpus to what it is to have: many rules, both levels, related places, ways, fixes.
func whole(t *testing.T, text []byte) {
	t.Helper()
	rules, levels := map[string]bool{}, map[string]int{}
	var related, flows, fixes int
	for _, r := range results(t, text) {
		rules[r.RuleID] = true
		levels[r.Level]++
		if len(r.Related) > 0 {
			related++
		}
		if len(r.Flows) > 0 {
			flows++
		}
		if len(r.Fixes) > 0 {
			fixes++
		}
	}
	t.Logf("%d rules, levels %v; %d have related places, %d ways, %d fixes", len(rules), levels, related, flows, fixes)
	if len(rules) < 25 || levels["error"] < 100 || levels["warning"] < 3 || related < 100 || flows != related || fixes < 10 {
		t.Error("that is too little of something")
	}
}

// fingerprints has them, with their rules. No two findings have the same.
func fingerprints(t *testing.T, text []byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, r := range results(t, text) {
		p := r.Fingerprints["barewire/v1"]
		if p == "" || all[p] != "" {
			t.Errorf("a finding of %s has no fingerprint of its own: %q", r.RuleID, p)
		}
		all[p] = r.RuleID
	}
	return all
}
