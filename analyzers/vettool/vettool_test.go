package vettool

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
)

// TestMain lets the test's program be a tool whose analyzer fails, as FAIL says.
func TestMain(m *testing.M) {
	if how := os.Getenv("FAIL"); how != "" && Called(os.Args[1:]) {
		Main(&analysis.Analyzer{
			Name: "failing", Doc: "fails", FactTypes: []analysis.Fact{new(fact)},
			Run: func(*analysis.Pass) (any, error) {
				if how == "panic" {
					panic("something is wrong")
				}
				return nil, errors.New("something is wrong")
			},
		})
	}
	os.Exit(m.Run())
}

type fact struct{ N int }

func (*fact) AFact() {}

func TestCalled(t *testing.T) {
	for line, want := range map[string]bool{
		"-V=full": true, "-flags": true, "x.cfg": true, "-json /tmp/x.cfg": true, "-bwlife=false -json x.cfg": true, "-fix -diff x.cfg": true,
		"": false, "vet": false, "check x.cfg": false, "vet -V=full": false, "--help": false, "-C x vet x.cfg": false, "generate x.bare": false,
	} {
		if got := Called(strings.Fields(line)); got != want {
			t.Errorf("%q is the go command's: %v, want %v", line, got, want)
		}
	}
}

// TestPass: only a package that can have no fact is passed over, and then it has an empty file of facts.
func TestPass(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	plain := file("plain.go", "package p\n\n// barewire: in prose\n")
	told := file("told.go", "package p\n"+strings.Repeat("// filler\n", 20000)+"//barewire:type handle\ntype T struct{}\n")
	none, some := file("none.vetx", ""), file("some.vetx", "x")
	for _, c := range []struct {
		name string
		u    unit
		want bool
	}{
		{"plain", unit{VetxOnly: true, GoFiles: []string{plain}, PackageVetx: map[string]string{"a": none}}, true},
		{"findings are wanted", unit{GoFiles: []string{plain}}, false},
		{"a directive", unit{VetxOnly: true, GoFiles: []string{plain, told}}, false},
		{"an import with facts", unit{VetxOnly: true, GoFiles: []string{plain}, PackageVetx: map[string]string{"a": none, "b": some}}, false},
	} {
		c.u.VetxOutput, c.u.Stdout = filepath.Join(dir, c.name+".out"), filepath.Join(dir, c.name+".stdout")
		text, err := json.Marshal(c.u)
		if err != nil {
			t.Fatal(err)
		}
		u, err := readUnit(file("vet.cfg", string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := u.pass(); got != c.want || err != nil {
			t.Errorf("%s: passed over %v (%v), want %v", c.name, got, err, c.want)
		}
		if info, err := os.Stat(c.u.VetxOutput); (err == nil) != c.want || err == nil && info.Size() != 0 {
			t.Errorf("%s: facts: %v, %v", c.name, info, err)
		}
	}
	for _, u := range []unit{
		{VetxOnly: true, VetxOutput: filepath.Join(dir, "x"), GoFiles: []string{filepath.Join(dir, "missing.go")}},
		{VetxOnly: true, VetxOutput: filepath.Join(dir, "x"), PackageVetx: map[string]string{"a": filepath.Join(dir, "missing")}},
		{VetxOnly: true, VetxOutput: filepath.Join(dir, "no", "x"), GoFiles: []string{plain}},
	} {
		if done, err := u.pass(); done || err == nil {
			t.Errorf("%+v: passed over, without an error", u)
		}
	}
	if _, err := readUnit(file("bad.cfg", "{")); err == nil {
		t.Error("a broken description is no error")
	}
}

// TestContains finds a text wherever it lies, also across two reads.
func TestContains(t *testing.T) {
	name, text := filepath.Join(t.TempDir(), "x"), []byte("//barewire:")
	for _, before := range []int{0, 1, 64<<10 - 12, 64<<10 - 11, 64<<10 - 5, 64<<10 - 1, 64 << 10, 128<<10 - 15, 200000} {
		whole := append(bytes.Repeat([]byte("/"), before), text...)
		for want, content := range map[bool][]byte{true: append(whole, 'x'), false: whole[:len(whole)-1]} {
			if err := os.WriteFile(name, content, 0o666); err != nil {
				t.Fatal(err)
			}
			if got, err := contains(name, text); got != want || err != nil {
				t.Errorf("behind %d bytes: %v (%v), want %v", before, got, err, want)
			}
		}
	}
}

// TestGuard: an analyzer that fails is told of, in a package that is looked at and in one that it imports.
func TestGuard(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/x\n\ngo 1.25.0\n", "x.go": "package x\n\nimport _ \"example.com/x/y\"\n",
		"y/y.go": "package y\n\n//barewire:type handle\ntype T struct{}\n", "z/z.go": "package z\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, how := range []string{"panic", "error", "panic"} { // nothing of it is kept in the cache
		for pkg, failed := range map[string]string{".": "y", "./y": "y", "./z": "z"} {
			want := Bug + "failing over example.com/x/" + failed + ": something is wrong [BW9001]"
			cmd := exec.Command("go", "vet", "-vettool="+self, pkg)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "FAIL="+how, "GOFLAGS=-mod=mod", "GOWORK=off")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%s, %s: %v\n%s", how, pkg, err, out)
			}
		}
	}
}
