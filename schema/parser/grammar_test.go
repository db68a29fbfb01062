package parser

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/source"
)

// everything uses each production of the grammar, and nothing that is wrong.
const everything = `#@package(a.b, key=value, numa(3))
type P struct { a: uint b: u8 c: i64 d: f32 e: bool f: str g: void h: data i: data[16] }
type L struct { a: list<u8> b: list<P>[4] c: optional<P> d: map<str><data> }
type E enum { A B = 7 }
type U union { | P = 1 | L | }
enum F u16 { A }
type Old { a: string b: data<4> c: []u8 d: [4]u8 e: map[string]P f: (P | L = 3) g: { a: u8 } }
`

// TestGrammar holds the grammar's file, the parser's functions and the tests
// together: the productions of the file are those that the parser passes
// through when it reads everything, and each stands in the doc comment of its function.
func TestGrammar(t *testing.T) {
	productions := readGrammar(t)
	seen := map[string]bool{}
	trace = func(name string) { seen[name] = true }
	defer func() { trace = nil }()
	if _, errs := Parse(source.NewFile("everything.bare", []byte(everything))); len(errs) > 0 {
		t.Fatal(errs)
	}
	for name := range productions {
		if !seen[name] {
			t.Errorf("no test exercises %s", name)
		}
	}
	for name := range seen {
		if productions[name] == "" {
			t.Errorf("the parser has a production %s that grammar.ebnf lacks", name)
		}
	}
	sources := goSources(t)
	for name, rule := range productions {
		if !strings.Contains(sources, name+" = "+rule+" .") {
			t.Errorf("no function's comment has: %s = %s .", name, rule)
		}
	}
}

// TestGrammarIsClosed wants a production for each name that the grammar uses,
// and a use for each production.
func TestGrammarIsClosed(t *testing.T) {
	productions := readGrammar(t)
	used := map[string]bool{"schema": true, "comment": true, "annotation": true}
	explained := map[string]bool{"letter": true, "upper": true, "digit": true, "not_lf": true}
	quoted := regexp.MustCompile(`"[^"]*"`)
	word := regexp.MustCompile(`\w+`)
	for name, rule := range productions {
		for _, ref := range word.FindAllString(quoted.ReplaceAllString(rule, ""), -1) {
			if productions[ref] == "" && !explained[ref] {
				t.Errorf("%s uses %s, which is not defined", name, ref)
			}
			used[ref] = true
		}
	}
	for name := range productions {
		if !used[name] {
			t.Errorf("nothing uses %s", name)
		}
	}
}

// readGrammar returns the right side of each production by its name.
func readGrammar(t *testing.T) map[string]string {
	text, err := os.ReadFile("grammar.ebnf")
	if err != nil {
		t.Fatal(err)
	}
	plain := regexp.MustCompile(`(?s)\(\*.*?\*\)`).ReplaceAllString(string(text), "")
	productions := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+) += (.*) \.$`).FindAllStringSubmatch(plain, -1) {
		if productions[m[1]] != "" {
			t.Errorf("%s is defined twice", m[1])
		}
		productions[m[1]] = m[2]
	}
	if len(productions) < 25 || len(productions) != len(regexp.MustCompile(`(?m)^\S`).FindAllString(plain, -1)) {
		t.Fatalf("grammar.ebnf has lines that are no productions; read %d", len(productions))
	}
	return productions
}

// goSources is the text of the package's files.
func goSources(t *testing.T) string {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}
