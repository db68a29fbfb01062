package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

const here = "file:///s/a.bare"

// 😀 takes two UTF-16 units and four bytes, é one and two.
const sample = `#@package(demo)

# A reading. 😀
#@align(8)
type Reading struct { # é😀
  id:   u64
  #@max(8)
  name: str
  kind: Kind
  #@ref(Reading, remote_read)
  next: data[48]
}

type Kind enum {
  LOW
  HIGH = 300
}
type Any union { Reading | Kind | list<Kind> }
`

func TestDiagnostics(t *testing.T) {
	c := session(t)
	c.open(here, "type A struct {\n  x: B # 😀\n  😀 y: string\n}\n")
	p := c.diagnostics(here, 1)
	if len(p.Diagnostics) == 0 || p.Diagnostics[0].Range != (textRange{position{2, 2}, position{2, 4}}) {
		t.Errorf("%+v", p)
	}
	// The character goes, in units of UTF-16; what is left is one undeclared type.
	c.change(here, 2, 2, 2, 2, 5, "")
	p = c.diagnostics(here, 2)
	x := slices.IndexFunc(p.Diagnostics, func(d lspDiagnostic) bool { return d.Severity == 1 })
	if x < 0 || p.Diagnostics[x].Code != "BW1102" || p.Diagnostics[x].Range != (textRange{position{1, 5}, position{1, 6}}) ||
		p.Diagnostics[x].CodeDescription.Href != "https://example.org/codes.md#bw1102-undefined-type" {
		t.Errorf("%+v", p)
	}
	// Two changes at once; then none is left but remarks.
	c.tell("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":3},"contentChanges":[`+
		`{"range":{"start":{"line":3,"character":1},"end":{"line":3,"character":1}},"text":"\ntype B u8"},`+
		`{"range":{"start":{"line":2,"character":5},"end":{"line":2,"character":11}},"text":"str"}]}`, here))
	p = c.diagnostics(here, 3)
	for _, d := range p.Diagnostics {
		if d.Severity < 3 {
			t.Errorf("%+v", d)
		}
	}
	// Both places of a finding are told.
	c.tell("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":4},"contentChanges":[{"text":"type A u8\ntype A u8\n"}]}`, here))
	p = c.diagnostics(here, 4)
	if len(p.Diagnostics) != 1 || len(p.Diagnostics[0].RelatedInformation) != 1 || p.Diagnostics[0].RelatedInformation[0].Location.Range.Start != (position{0, 5}) {
		t.Errorf("%+v", p)
	}
	// Names in Go are looked at, too.
	c.tell("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":5},"contentChanges":[{"text":"type S struct { user_id: u8 userId: u8 }"}]}`, here))
	if p = c.diagnostics(here, 5); !slices.ContainsFunc(p.Diagnostics, func(d lspDiagnostic) bool { return d.Code == "BW1301" }) {
		t.Errorf("%+v", p)
	}
	// Closing takes them back.
	c.tell("textDocument/didClose", docOf(here))
	if p = c.diagnostics(here, 0); len(p.Diagnostics) != 0 {
		t.Errorf("%+v", p)
	}
	c.end()
}

func TestNavigation(t *testing.T) {
	c := session(t)
	c.open(here, sample)
	for _, x := range []struct {
		line, char int
		want       string
	}{
		{8, 8, "13:5-13:9"},   // Kind, in the middle
		{8, 12, "13:5-13:9"},  // behind it
		{9, 10, "4:5-4:12"},   // in #@ref
		{17, 41, "13:5-13:9"}, // in a list
		{13, 6, "13:5-13:9"},  // where it is declared
		{5, 8, ""},            // a built-in type
		{5, 3, ""},            // a field
		{2, 3, ""},            // a comment
		{400, 3, ""},          // nowhere
	} {
		var l *location
		c.ask("textDocument/definition", at(here, x.line, x.char)+"}", &l)
		got := ""
		if l != nil {
			got = spot(l.Range)
		}
		if got != x.want {
			t.Errorf("definition at %d:%d: %s, want %s", x.line, x.char, got, x.want)
		}
	}
	for declaration, want := range map[bool]string{true: "13:5-13:9 8:8-8:12 17:27-17:31 17:39-17:43", false: "8:8-8:12 17:27-17:31 17:39-17:43"} {
		var list []location
		c.ask("textDocument/references", at(here, 8, 9)+fmt.Sprintf(`,"context":{"includeDeclaration":%v}}`, declaration), &list)
		var got []string
		for _, l := range list {
			got = append(got, spot(l.Range))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("references: %v, want %s", got, want)
		}
	}
	var marks []documentHighlight
	if c.ask("textDocument/documentHighlight", at(here, 8, 9)+"}", &marks); len(marks) != 4 {
		t.Errorf("%+v", marks)
	}
	c.end()
}

func spot(r textRange) string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
}

func TestRename(t *testing.T) {
	c := session(t)
	c.open(here, sample)
	var e workspaceEdit
	c.ask("textDocument/rename", at(here, 9, 12)+`,"newName":"Sample"}`, &e)
	sort.Slice(e.Changes[here], func(i, j int) bool { return e.Changes[here][i].Range.Start.Line < e.Changes[here][j].Range.Start.Line })
	if got, want := apply(t, sample, e.Changes[here]), strings.ReplaceAll(strings.ReplaceAll(sample, "A reading", "A reading"), "Reading", "Sample"); got != want {
		t.Errorf("%s", got)
	}
	c.ask("textDocument/rename", at(here, 5, 3)+`,"newName":"number"}`, &e)
	if got, want := apply(t, sample, e.Changes[here]), strings.Replace(sample, "id: ", "number: ", 1); got != want {
		t.Errorf("%s", got)
	}
	c.ask("textDocument/rename", at(here, 14, 3)+`,"newName":"LEAST"}`, &e)
	if got, want := apply(t, sample, e.Changes[here]), strings.Replace(sample, "LOW", "LEAST", 1); got != want {
		t.Errorf("%s", got)
	}
	var p struct {
		Range       textRange
		Placeholder string
	}
	if c.ask("textDocument/prepareRename", at(here, 8, 9)+"}", &p); p.Placeholder != "Kind" || spot(p.Range) != "8:8-8:12" {
		t.Errorf("%+v", p)
	}
	c.fails("textDocument/prepareRename", at(here, 5, 8)+"}", requestFailed, "nothing here")
	c.fails("textDocument/rename", at(here, 8, 9)+`,"newName":"Reading"}`, requestFailed, "declared already")
	c.fails("textDocument/rename", at(here, 8, 9)+`,"newName":"u8"}`, requestFailed, "a word of the language")
	c.fails("textDocument/rename", at(here, 8, 9)+`,"newName":"a b"}`, requestFailed, "is no name")
	c.fails("textDocument/rename", at(here, 8, 9)+`,"newName":"kind"}`, requestFailed, "start with a capital letter")
	c.fails("textDocument/rename", at(here, 5, 3)+`,"newName":"name"}`, requestFailed, "a field `name` already")
	c.fails("textDocument/rename", at(here, 14, 3)+`,"newName":"HIGH"}`, requestFailed, "a value `HIGH` already")
	c.end()
}

func TestHover(t *testing.T) {
	c := session(t)
	c.open(here, sample)
	for _, x := range []struct {
		line, char int
		want       []string // parts; none where there is no hover
	}{
		{17, 20, []string{"type Reading struct {…}", "A reading. 😀", "**bounded**", "slot", "next"}},
		{5, 3, []string{"id: u64", "**castable**, 8 bytes, alignment 8, at byte 0, cache line 0"}},
		{8, 4, []string{"kind: Kind", "where what stands before it ends"}},
		{5, 9, []string{"```bare\nu64\n```", "8 bytes"}},
		{10, 9, []string{"data[48]"}},
		{6, 5, []string{"#@max", "at most so many"}},
		{0, 5, []string{"#@package"}},
		{14, 3, []string{"LOW = 0"}},
		{15, 3, []string{"HIGH = 300"}},
		{13, 6, []string{"type Kind enum {…}", "HIGH"}},
		{2, 4, nil},
	} {
		var h *hover
		c.ask("textDocument/hover", at(here, x.line, x.char)+"}", &h)
		if (h == nil) != (x.want == nil) {
			t.Errorf("hover at %d:%d: %+v", x.line, x.char, h)
			continue
		}
		for _, w := range x.want {
			if !strings.Contains(h.Contents.Value, w) {
				t.Errorf("hover at %d:%d: no %q in\n%s", x.line, x.char, w, h.Contents.Value)
			}
		}
	}
	// With an error in the text, what is known is still told; of the text as it is now.
	c.change(here, 2, 5, 0, 5, 0, "  first: u8\n  bad: Missing\n")
	var h *hover
	if c.ask("textDocument/hover", at(here, 7, 3)+"}", &h); h == nil || !strings.Contains(h.Contents.Value, "id: u64") {
		t.Errorf("%+v", h)
	}
	if c.ask("textDocument/hover", at(here, 5, 3)+"}", &h); h == nil || !strings.Contains(h.Contents.Value, "at byte 0") {
		t.Errorf("%+v", h)
	}
	c.end()
}

func TestCompletion(t *testing.T) {
	c := session(t)
	for i, x := range []struct {
		text string // up to the cursor
		want []string
		not  []string
	}{
		{"type A u8\ntype B struct { x: ", []string{"A", "B", "u8", "optional", "struct"}, nil},
		{"type A u8\ntype B ", []string{"A", "enum", "list"}, []string{"type"}},
		{"type A u8\ntype B list<", []string{"A", "str"}, nil},
		{"type A u8\ntype B union { A | ", []string{"A", "void"}, nil},
		{"type A u8\ntype B union { ", []string{"A"}, nil},
		{"type A u8\ntype B (", []string{"A"}, nil},
		{"type A u8\ntype B []", []string{"A"}, nil},
		{"type A struct { ", nil, []string{"A", "u8", "type"}},
		{"type A enum { ", nil, []string{"A", "u8"}},
		{"type ", nil, []string{"u8", "type"}},
		{"", []string{"type"}, []string{"u8"}},
		{"type A u8\n", []string{"type"}, nil},
		{"# some text: ", nil, []string{"u8"}},
		{"#@", []string{"residency", "register", "align", "cacheline", "atomic", "pad", "max", "ref", "go", "package"}, []string{"u8"}},
		{"#@re", []string{"register"}, nil},
		{"#@register(remote_read, ", []string{"remote_write", "local"}, []string{"remote_read", "cpu"}},
		{"#@residency(numa(1), ", []string{"cxl", "fallback=unified"}, []string{"numa"}},
		{"type A u8\n#@ref(", []string{"A"}, []string{"remote_read"}},
		{"type A u8\n#@ref(A, ", []string{"remote_read"}, []string{"A"}},
		{"type B struct { x: map<str><", []string{"B"}, nil},
		{"type B struct { # comment {\n x: ", []string{"B"}, nil},
	} {
		uri := fmt.Sprintf("file:///s/c%d.bare", i)
		c.open(uri, x.text)
		lines := strings.Split(x.text, "\n")
		var list completionList
		c.ask("textDocument/completion", at(uri, len(lines)-1, len(lines[len(lines)-1]))+"}", &list)
		has := map[string]bool{}
		for _, item := range list.Items {
			has[item.Label] = true
		}
		for _, w := range x.want {
			if !has[w] {
				t.Errorf("%q: no %s in %v", x.text, w, has)
			}
		}
		for _, w := range x.not {
			if has[w] {
				t.Errorf("%q: offers %s", x.text, w)
			}
		}
	}
	c.end()
}

// TestSnippets: an editor that does not say that it takes snippets would insert their dollars.
func TestSnippets(t *testing.T) {
	for params, want := range map[string]bool{
		`{"capabilities":{}}`: false,
		`{"capabilities":{"textDocument":{"completion":{"completionItem":{"snippetSupport":false}}}}}`: false,
		`{"capabilities":{"textDocument":{"completion":{"completionItem":{"snippetSupport":true}}}}}`:  true,
	} {
		c := start(t)
		c.ask("initialize", params, nil)
		for i, text := range []string{"type B ", "#@", ""} {
			uri := fmt.Sprintf("file:///s/c%d.bare", i)
			c.open(uri, text)
			var list completionList
			c.ask("textDocument/completion", at(uri, 0, len(text))+"}", &list)
			got := false
			for _, item := range list.Items {
				got = got || item.InsertTextFormat == 2 || strings.Contains(item.InsertText, "$")
			}
			if got != want {
				t.Errorf("%s, %q: snippets: %v", params, text, got)
			}
		}
		c.end()
	}
}

func TestFormatting(t *testing.T) {
	c := session(t)
	for i, x := range []struct{ text, want string }{
		{"type A   u8 # 😀\ntype B struct{a:string b:A}\n", "type A u8 # 😀\ntype B struct { a: str b: A }\n"},
		{"type A u8\r\ntype B u8\r\n", "type A u8\ntype B u8\n"},
		{"type A u8\n", "type A u8\n"},
		{"# é\ntype A  u8", "# é\ntype A u8\n"},
	} {
		uri := fmt.Sprintf("file:///s/f%d.bare", i)
		c.open(uri, x.text)
		var edits []textEdit
		c.ask("textDocument/formatting", fmt.Sprintf(`{"textDocument":{"uri":%q},"options":{"tabSize":2,"insertSpaces":true}}`, uri), &edits)
		if got := apply(t, x.text, edits); got != x.want {
			t.Errorf("%q: %q, want %q by %+v", x.text, got, x.want, edits)
		}
	}
	c.open(here, "type A {")
	c.fails("textDocument/formatting", docOf(here), requestFailed, "errors of syntax")
	c.end()
}

func TestCodeActions(t *testing.T) {
	const text = "# @align(8)\n#@aling(8)\ntype A u64\n"
	c := session(t)
	c.open(here, text)
	c.diagnostics(here, 1)
	var actions []codeAction
	all := fmt.Sprintf(`{"textDocument":{"uri":%q},"range":{"start":{"line":1,"character":4},"end":{"line":1,"character":4}},"context":{"diagnostics":[]}}`, here)
	c.ask("textDocument/codeAction", all, &actions)
	if len(actions) != 1 || actions[0].Title != "write align" || actions[0].Kind != "quickfix" || len(actions[0].Diagnostics) != 1 {
		t.Fatalf("%+v", actions)
	}
	if got := apply(t, text, actions[0].Edit.Changes[here]); got != "# @align(8)\n#@align(8)\ntype A u64\n" {
		t.Errorf("%q", got)
	}
	only := strings.Replace(all, `"diagnostics":[]`, `"diagnostics":[],"only":["source.fixAll"]`, 1)
	if c.ask("textDocument/codeAction", only, &actions); len(actions) != 1 || len(actions[0].Edit.Changes[here]) != 2 {
		t.Errorf("%+v", actions)
	}
	c.end()
}

// TestLint: what lint finds is shown, too, and a change that breaks something says so and is
// not made with the others.
// TestOrder: declarations are put in order as by lint --fix, for whom asks about one and for whom wants all changes.
func TestOrder(t *testing.T) {
	const text = "# All.\n\ntype B list<A> # b\ntype C list<A>\n# The é.\ntype A u8\n"
	const want = "# All.\n\n# The é.\ntype A u8\n\ntype B list<A> # b\n\ntype C list<A>\n"
	c := session(t)
	c.open(here, text)
	c.diagnostics(here, 1)
	all := fmt.Sprintf(`{"textDocument":{"uri":%q},"range":{"start":{"line":2,"character":12},"end":{"line":2,"character":12}},"context":{"diagnostics":[]}}`, here)
	for _, p := range []string{all, strings.Replace(all, `"diagnostics":[]`, `"diagnostics":[],"only":["source.fixAll"]`, 1)} {
		var actions []codeAction
		if c.ask("textDocument/codeAction", p, &actions); len(actions) != 1 {
			t.Fatalf("%s: %+v", p, actions)
		}
		if got := apply(t, text, actions[0].Edit.Changes[here]); got != want {
			t.Errorf("%s: %q", actions[0].Title, got)
		}
	}
	c.change(here, 2, 5, 7, 5, 7, " type U9 u9") // with errors there is no order yet
	c.diagnostics(here, 2)
	var actions []codeAction
	if c.ask("textDocument/codeAction", all, &actions); len(actions) != 0 {
		t.Errorf("%+v", actions)
	}
	c.end()
}

func TestLint(t *testing.T) {
	const text = "#@residency(cpu)\ntype Tick struct {\n  a: u8\n  b: u32\n}\n"
	c := session(t)
	c.open(here, text)
	p := c.diagnostics(here, 1)
	if !slices.ContainsFunc(p.Diagnostics, func(d lspDiagnostic) bool { return strings.Contains(d.Message, "castable") }) {
		t.Errorf("%+v", p)
	}
	var actions []codeAction
	all := fmt.Sprintf(`{"textDocument":{"uri":%q},"range":{"start":{"line":0,"character":0},"end":{"line":4,"character":0}},"context":{"diagnostics":[]}}`, here)
	c.ask("textDocument/codeAction", all, &actions)
	if !slices.ContainsFunc(actions, func(a codeAction) bool { return strings.HasSuffix(a.Title, "which changes the wire") && !a.IsPreferred }) {
		t.Errorf("%+v", actions)
	}
	if c.ask("textDocument/codeAction", strings.Replace(all, `"diagnostics":[]`, `"diagnostics":[],"only":["source.fixAll"]`, 1), &actions); len(actions) != 0 {
		t.Errorf("%+v", actions)
	}
	c.end()
}

func TestOutline(t *testing.T) {
	c := session(t)
	c.open(here, sample+"type Deep list<struct { in: union { u8 | Kind } }>\n")
	var list []documentSymbol
	c.ask("textDocument/documentSymbol", docOf(here), &list)
	var got []string
	var walk func(list []documentSymbol, indent string)
	walk = func(list []documentSymbol, indent string) {
		for _, s := range list {
			got = append(got, strings.TrimRight(indent+s.Name+" "+s.Detail, " "))
			walk(s.Children, indent+".")
		}
	}
	walk(list, "")
	want := []string{"Reading", ".id u64", ".name str", ".kind Kind", ".next data[48]", "Kind", ".LOW", ".HIGH 300", "Any", ".Reading", ".Kind", ".list<Kind>",
		"Deep list<struct { in: union { u8 | Kind } }>", ".in union", "..u8", "..Kind"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var folds []foldingRange
	if c.ask("textDocument/foldingRange", docOf(here), &folds); len(folds) != 2 || folds[0] != (foldingRange{4, 11}) {
		t.Errorf("%+v", folds)
	}
	c.end()
}

func TestSemanticTokens(t *testing.T) {
	c := session(t)
	c.open(here, sample)
	show := func(tokens semanticTokens) (got []string) {
		lines := strings.Split(sample, "\n")
		line, char := 0, 0
		for i := 0; i+4 < len(tokens.Data); i += 5 {
			if d := int(tokens.Data[i]); d > 0 {
				line, char = line+d, 0
			}
			char += int(tokens.Data[i+1])
			u := newUnit("x", nil, []byte(lines[line]))
			from, to := u.offset(position{0, char}), u.offset(position{0, char + int(tokens.Data[i+2])})
			got = append(got, lines[line][from:to]+":"+tokenTypes[tokens.Data[i+3]])
		}
		return got
	}
	var tokens semanticTokens
	c.ask("textDocument/semanticTokens/full", docOf(here), &tokens)
	got := strings.Join(show(tokens), " ")
	const want = "#@package:decorator demo:enumMember # A reading. 😀:comment #@align:decorator 8:number type:keyword Reading:type struct:keyword # é😀:comment " +
		"id:property u64:type #@max:decorator 8:number name:property str:type kind:property Kind:type #@ref:decorator Reading:type remote_read:enumMember " +
		"next:property data:type 48:number type:keyword Kind:type enum:keyword LOW:enumMember HIGH:enumMember 300:number " +
		"type:keyword Any:type union:keyword Reading:type Kind:type list:type Kind:type"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c.ask("textDocument/semanticTokens/range", fmt.Sprintf(`{"textDocument":{"uri":%q},"range":{"start":{"line":13,"character":0},"end":{"line":14,"character":3}}}`, here), &tokens)
	if got := strings.Join(show(tokens), " "); got != "type:keyword Kind:type enum:keyword LOW:enumMember" {
		t.Errorf("range: %s", got)
	}
	c.end()
}

// TestFiles: a schema that uses what others beside it declare is compiled with them;
// versions of one schema side by side are not mixed.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return "file://" + filepath.ToSlash(filepath.Join(dir, name))
	}
	common := write("common things.bare", "type Id u64\ntype Both struct { id: Id }\n")
	common = strings.ReplaceAll(common, " ", "%20")
	first := write("a.bare", "type Port u8\n")
	later := write("b.bare", "type Ports list<Port>\n")
	user := write("user.bare", "type User struct { id: Id  none: Nowhere }\n")
	write("v1.bare", "type A u8\n")
	v2 := write("v2.bare", "type A u8\ntype B A\n")
	c := session(t)
	c.open(v2, "type A u8\ntype B A\n")
	if p := c.diagnostics(v2, 1); len(p.Diagnostics) != 0 {
		t.Errorf("versions are mixed: %+v", p)
	}
	// What is used before it is declared is what it is for lint of the directory.
	c.open(later, "type Ports list<Port>\n")
	if p := c.diagnostics(later, 1); len(p.Diagnostics) != 0 {
		t.Errorf("%s stands before it: %+v", first, p)
	}
	c.open(user, "type User struct { id: Id  none: Nowhere }\n")
	p := c.diagnostics(user, 1)
	errs := 0
	for _, d := range p.Diagnostics {
		if d.Severity == 1 {
			errs++
			if !strings.Contains(d.Message, "Nowhere") {
				t.Errorf("%+v", d)
			}
		}
	}
	if errs != 1 {
		t.Errorf("%+v", p)
	}
	var l *location
	if c.ask("textDocument/definition", at(user, 0, 24)+"}", &l); l == nil || l.URI != common || l.Range.Start != (position{0, 5}) {
		t.Errorf("%+v", l)
	}
	var h *hover
	if c.ask("textDocument/hover", at(user, 0, 24)+"}", &h); h == nil || !strings.Contains(h.Contents.Value, "8 bytes") {
		t.Errorf("%+v", h)
	}
	var e workspaceEdit
	c.ask("textDocument/rename", at(user, 0, 24)+`,"newName":"Number"}`, &e)
	if len(e.Changes[user]) != 1 || len(e.Changes[common]) != 2 {
		t.Errorf("%+v", e)
	}
	// Both is used nowhere, Id beside it only.
	c.open(common, "type Id u64\ntype Both struct { id: u64 }\n")
	for _, d := range c.diagnostics(common, 1).Diagnostics {
		if strings.Contains(d.Message, "`Id`") {
			t.Errorf("%+v", d)
		}
	}
	// An open document counts as it is, not as it was saved.
	c.open(common, "type Id u64\ntype Both struct { id: Id }\ntype Nowhere u8\n")
	c.change(user, 2, 0, 0, 0, 0, "\n")
	for _, d := range c.diagnostics(user, 2).Diagnostics {
		if d.Severity == 1 {
			t.Errorf("%+v", d)
		}
	}
	c.end()
}

func TestLifecycle(t *testing.T) {
	c := start(t)
	c.fails("textDocument/hover", at(here, 0, 0)+"}", notInitialized, "before `initialize`")
	c.tell("textDocument/didOpen", `{}`)
	c.ask("initialize", "{}", nil)
	c.fails("initialize", "{}", invalidRequest, "second time")
	c.fails("textDocument/hover", at(here, 0, 0)+"}", invalidParams, "is not open")
	c.fails("textDocument/hover", `[]`, invalidParams, "")
	c.fails("textDocument/frobnicate", "{}", methodNotFound, "frobnicate")
	c.tell("$/frobnicate", "{}")
	c.tell("textDocument/didChange", `{"textDocument":{"uri":"file:///none"},"contentChanges":[{"text":""}]}`)
	c.tell("textDocument/didChange", `7`)
	c.ask("shutdown", "null", nil)
	c.fails("textDocument/hover", at(here, 0, 0)+"}", invalidRequest, "after `shutdown`")
	c.tell("exit", "null")
	if err := <-c.ended; err != nil || !c.clean {
		t.Errorf("%v, orderly %v", err, c.clean)
	}
	c = session(t)
	c.tell("exit", "null")
	if err := <-c.ended; err != nil || c.clean {
		t.Errorf("exit without shutdown: %v, orderly %v", err, c.clean)
	}
	c = session(t)
	c.w.Close()
	if err := <-c.ended; err != nil || c.clean {
		t.Errorf("the end of the input: %v, orderly %v", err, c.clean)
	}
}

func TestMalformed(t *testing.T) {
	c := session(t)
	broken := func(raw string, code int) {
		t.Helper()
		c.raw(raw)
		if m := c.answer("null"); m.Error == nil || m.Error.Code != code {
			t.Errorf("%q: %+v", raw, m.Error)
		}
	}
	broken("Content-Length: 1\r\n\r\n{", parseError)
	broken("content-length:2\r\n\r\n[]", invalidRequest)
	broken("Content-Length: 2\n\n{}", invalidRequest)
	broken("Content-Type: x\r\nContent-Length: 5\r\n\r\n\"abc\"", invalidRequest)
	broken("rubbish\r\n\r\nContent-Length: x\r\n\r\nContent-Length: -3\r\n\r\nContent-Length: 1\r\n\r\n]", parseError)
	broken(strings.Repeat("x", 200_000)+"\r\nContent-Length: 1\r\n\r\n]", parseError)
	// A length that is wrong: the message behind may be lost, and the next one is heard.
	lost := `{"jsonrpc":"2.0","id":70,"method":"lost"}`
	for i, length := range []int{5, len(lost) + 3, len(lost) + 30} {
		broken(fmt.Sprintf("Content-Length: %d\r\n\r\n%sContent-Length: %d\r\n\r\n%[2]s", length, lost, len(lost)), parseError)
		c.fails("heard", strings.Repeat(" ", i*70_000)+"{}", methodNotFound, "heard")
	}
	c.send(`{"jsonrpc":"2.0","id":"a string","method":"shutdownn"}`)
	if m := c.answer(`"a string"`); m.Error == nil || m.Error.Code != methodNotFound {
		t.Errorf("%+v", m)
	}
	c.send(`{"jsonrpc":"2.0","id":77,"result":null}`) // an answer to nothing
	c.send(`{"jsonrpc":"2.0","id":77,"result":{}}`)
	c.notes = nil
	c.open(here, "type A u8")
	c.diagnostics(here, 1)
	c.end()
}

// TestTooLong: a length that nobody sends is answered, and the next message is heard.
func TestTooLong(t *testing.T) {
	c := session(t)
	for _, length := range []string{"268435457", "99999999999999", "123456789012345678901234567890"} {
		c.raw("Content-Length: " + length + "\r\n\r\n{}")
		if m := c.answer("null"); m.Error == nil || m.Error.Code != invalidRequest || !strings.Contains(m.Error.Message, "the most is") {
			t.Errorf("%s: %+v", length, m.Error)
		}
		c.fails("heard", "{}", methodNotFound, "heard")
	}
	c.end()
}

// TestCut: an input that ends in a header or in a message ends the session.
func TestCut(t *testing.T) {
	for _, raw := range []string{"C", "Content-Length", "Content-Length: 7", "Content-Length: 7\r\n", "Content-Length: 7\r\n\r\n", "Content-Length: 7\r\n\r\n{\"jso"} {
		c := session(t)
		c.raw(raw)
		c.w.Close()
		if err := <-c.ended; err != nil || c.clean {
			t.Errorf("%q: %v, orderly %v", raw, err, c.clean)
		}
	}
}

// TestCancel: a request that is canceled while it waits is answered so.
func TestCancel(t *testing.T) {
	q := queue{more: make(chan struct{}, 1), canceled: map[string]bool{}}
	q.put(&message{ID: json.RawMessage("1"), Method: "x"})
	q.put(&message{ID: json.RawMessage(`"b"`), Method: "x"})
	q.put(&message{Method: "$/cancelRequest", Params: json.RawMessage(`{"id":"b"}`)})
	q.put(&message{Method: "$/cancelRequest", Params: json.RawMessage(`{"id":99}`)})
	q.put(&message{Method: "$/cancelRequest", Params: json.RawMessage(`3`)})
	if q.dropped(json.RawMessage("1")) || !q.dropped(json.RawMessage(`"b"`)) || q.dropped(json.RawMessage(`"b"`)) || q.dropped(json.RawMessage("99")) || len(q.canceled) > 0 {
		t.Error("the wrong ones are canceled")
	}
	// Over the wire: either answer is right, since it may have been answered already.
	c := session(t)
	c.open(here, sample)
	id := c.post("textDocument/semanticTokens/full", docOf(here))
	c.tell("$/cancelRequest", fmt.Sprintf(`{"id":%s}`, id))
	if m := c.answer(id); m.Error != nil && m.Error.Code != requestCanceled {
		t.Errorf("%+v", m.Error)
	}
	c.end()
}
