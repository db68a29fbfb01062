package schema_test

import (
	"encoding/hex"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// hashOf compiles a text and hashes its type Root.
func hashOf(t *testing.T, text string) (canonical, hash string) {
	t.Helper()
	s, list := schema.Compile([]*source.File{source.NewFile("hash.bare", []byte(text))}, schema.Options{})
	if s == nil {
		t.Fatalf("%s\n%s", say(list), text)
	}
	root := s.Namespaces[0].Types["Root"]
	sum := schema.Hash(root)
	return schema.Canonical(root), hex.EncodeToString(sum[:])
}

var newVectors = flag.Bool("new-vectors", false, "fill in hash vectors that are empty, and fail; others never change")

// TestHashVectors holds the schema hash to its vectors. Peers that run different
// versions compare hashes, so no vector may ever change.
func TestHashVectors(t *testing.T) {
	const path = "testdata/hash/vectors.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := archive.Files
	if len(files) != 33 {
		t.Fatalf("%d files, want eleven vectors of three", len(files))
	}
	for i := 0; i < len(files); i += 3 {
		canonical, hash := hashOf(t, string(files[i].Data))
		if diff := cmp.Diff(string(files[i+1].Data), canonical); diff != "" {
			t.Errorf("%s (-want +got)\n%s", files[i+1].Name, diff)
		}
		if diff := cmp.Diff(string(files[i+2].Data), hash+"\n"); diff != "" {
			t.Errorf("%s (-want +got)\n%s", files[i+2].Name, diff)
		}
		if *newVectors && len(files[i+2].Data) == 0 {
			files[i+1].Data, files[i+2].Data = []byte(canonical), []byte(hash+"\n")
		}
	}
	if *newVectors && t.Failed() {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const hashBase = `#@residency(cpu)
type Root struct {
  id: Id #@go(name=ID)
  #@max(4)
  names: list<Name>
  level: Level
}
type Id data[16]
#@max(8)
type Name str
type Level enum { LOW HIGH }
`

// TestHashIgnores holds what is not in the hash.
func TestHashIgnores(t *testing.T) {
	_, want := hashOf(t, hashBase)
	for what, edit := range map[string][2]string{
		"comments":             {"type Id", "# An id.\ntype Id"},
		"residency":            {"cpu", "cxl, fallback=unified"},
		"rights":               {"#@residency(cpu)", "#@register(remote_read)"},
		"alignment of regions": {"#@residency(cpu)", "#@align(64)"},
		"Go names":             {"name=ID", "name=Identifier"},
		"packages":             {"#@residency", "#@package(other)\n\n#@residency"},
		"the old spelling":     {"list<Name>", "[]Name"},
		"numbers written out":  {"LOW HIGH", "LOW = 0 HIGH = 1"},
		"order of types":       {"type Id data[16]\n#@max(8)\ntype Name str\n", "#@max(8)\ntype Name str\ntype Id data[16]\n"},
		"other types":          {"type Level", "type Other u8\ntype Level"},
	} {
		if _, got := hashOf(t, edited(t, what, edit)); got != want {
			t.Errorf("%s change the hash", what)
		}
	}
}

// TestHashSees holds what is in the hash.
func TestHashSees(t *testing.T) {
	seen := map[string]string{}
	_, base := hashOf(t, hashBase)
	seen[base] = "nothing"
	for what, edit := range map[string][2]string{
		"a field's name":  {"level:", "levels:"},
		"a field's type":  {"data[16]", "data[17]"},
		"a type's name":   {"level: Level\n", "level: Heat\n"},
		"a value's name":  {"LOW", "LEAST"},
		"a value":         {"HIGH", "HIGH = 7"},
		"a limit":         {"#@max(4)", "#@max(5)"},
		"a named limit":   {"#@max(8)", "#@max(9)"},
		"an enum's size":  {"type Level enum {", "enum Level u8 {"},
		"a name for type": {"level: Level", "level: enum { LOW HIGH }"},
	} {
		text := edited(t, what, edit) + "type Heat enum { LOW HIGH }\n"
		_, got := hashOf(t, text)
		if other, dup := seen[got]; dup {
			t.Errorf("%s: the hash is that of a change of %s", what, other)
		}
		seen[got] = what
	}
}

// TestHashTellsSequences holds that peers of which one takes a word for a sequence,
// and the other for a counter, have other hashes.
func TestHashTellsSequences(t *testing.T) {
	seen := map[string]string{}
	for _, annotation := range []string{"# Nothing.", "#@atomic", "#@atomic(sequence)"} {
		_, got := hashOf(t, "type Root struct {\n  "+annotation+"\n  seq: u64\n  x: u64\n}\n")
		if other, dup := seen[got]; dup {
			t.Errorf("%s has the hash of %s", annotation, other)
		}
		seen[got] = annotation
	}
}

func edited(t *testing.T, what string, edit [2]string) string {
	t.Helper()
	text := strings.Replace(hashBase, edit[0], edit[1], 1)
	if text == hashBase {
		t.Fatalf("%s: nothing was edited", what)
	}
	return text
}
