package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fidelityframework/barewire-gen/internal/golden"
	"github.com/fidelityframework/barewire-gen/internal/machines"
)

// TestJSON freezes the form of what every command writes as JSON, which programs rely on: each name, and what kinds of
// values it has; ? stands where some objects do not have it. The files of testdata/json have inputs and a section
// "commands"; for each of those lines there is a section with the form, of MACHINE that of all machines together. A new
// name may come; one that goes or changes its meaning takes a new version of the document.
func TestJSON(t *testing.T) {
	isInput := func(name string) bool { return !strings.HasPrefix(name, "$ ") }
	pattern, err := filepath.Abs("testdata/json/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	golden.Run(t, pattern, isInput, func(t *testing.T, _ string, in []txtar.File) (out []txtar.File) {
		t.Chdir(t.TempDir())
		var lines []string
		all := []string{""}
		for _, f := range in {
			switch f.Name {
			case "commands":
				lines = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			case "machines":
				all = strings.Fields(string(f.Data))
				for _, m := range all {
					if err := os.Mkdir(m, 0o777); err != nil {
						t.Fatal(err)
					}
					if err := machines.Unpack(m, m); err != nil {
						t.Fatal(err)
					}
				}
			default:
				if err := os.WriteFile(f.Name, f.Data, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, line := range lines {
			form, codes := forms{}, map[int]bool{}
			for _, m := range all {
				text, code := runCommand(strings.Fields(strings.ReplaceAll(line, "MACHINE", m))...)
				d := json.NewDecoder(strings.NewReader(text))
				d.UseNumber()
				var v any
				if err := d.Decode(&v); err != nil || d.More() {
					t.Fatalf("%s: no document of JSON: %v\n%s", line, err, text)
				}
				form.add("", v)
				codes[code] = true
			}
			out = append(out, txtar.File{Name: "$ " + line, Data: fmt.Appendf(form.text(), "exit code %v\n", slices.Sorted(maps.Keys(codes)))})
		}
		return out
	})
}

// forms are the kinds of values that stand at paths of documents, and how many of each.
type forms map[string]map[string]int

func (f forms) add(path string, v any) {
	kind := map[bool]string{true: "null"}[v == nil]
	switch v := v.(type) {
	case map[string]any:
		kind = "object"
		for name, x := range v {
			f.add(path+"."+name, x)
		}
	case []any:
		kind = "array"
		for _, x := range v {
			f.add(path+"[]", x)
		}
	case string:
		kind = "string"
	case json.Number:
		kind = "number"
	case bool:
		kind = "bool"
	}
	if f[path] == nil {
		f[path] = map[string]int{}
	}
	f[path][kind]++
}

func (f forms) text() []byte {
	var b bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(f)) {
		if path == "" {
			continue
		}
		n := 0
		for _, m := range f[path] {
			n += m
		}
		optional := ""
		if dot := strings.LastIndexByte(path, '.'); !strings.HasSuffix(path, "[]") && n < f[path[:dot]]["object"] {
			optional = "?"
		}
		fmt.Fprintf(&b, "%s%s %s\n", path, optional, strings.Join(slices.Sorted(maps.Keys(f[path])), "|"))
	}
	return b.Bytes()
}

// TestDoctorKeys: the report for programs has what it is asked for by name, whatever the machine has.
func TestDoctorKeys(t *testing.T) {
	empty := t.TempDir()
	if err := os.Mkdir(filepath.Join(empty, "sys"), 0o755); err != nil { // without it, it is no machine
		t.Fatal(err)
	}
	for _, args := range [][]string{{"doctor", "--format=json"}, {"doctor", "--format=json", "--root", empty}} {
		text, code := runCommand(args...)
		var doc map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &doc); err != nil || code != 0 {
			t.Fatalf("%v: %d, %v\n%s", args, code, err, text)
		}
		for _, key := range []string{"version", "numa", "cxl", "rdma", "gpu", "limits"} {
			if len(doc[key]) == 0 {
				t.Errorf("%v: no %s", args, key)
			}
		}
	}
}
