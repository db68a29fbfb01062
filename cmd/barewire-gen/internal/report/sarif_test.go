package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// shape is what the standard (SARIF 2.1.0, section 3) says of one kind of object, as far as it is written here: its
// properties, with a ! where they are required, and what they hold. A […] is a list; a name in lower case
// is another kind of object.
var shape = map[string]map[string]string{
	"log":              {"$schema": "string", "version!": "=2.1.0", "runs!": "[run]"},
	"run":              {"tool!": "tool", "columnKind": "=utf16CodeUnits", "results": "[result]"},
	"tool":             {"driver!": "toolComponent"},
	"toolComponent":    {"name!": "string", "version": "string", "informationUri": "uri", "rules": "[rule]"},
	"rule":             {"id!": "string", "name": "string", "shortDescription": "multi", "fullDescription": "multi", "help": "multi", "helpUri": "uri", "defaultConfiguration": "configuration"},
	"configuration":    {"level": "level"},
	"multi":            {"text!": "string", "markdown": "string"},
	"message":          {"text!": "string"},
	"result":           {"ruleId": "string", "ruleIndex": "number", "level": "level", "message!": "message", "locations": "[location]", "relatedLocations": "[location]", "codeFlows": "[codeFlow]", "fixes": "[fix]", "partialFingerprints": "strings"},
	"location":         {"id": "number", "physicalLocation": "physicalLocation", "message": "message"},
	"physicalLocation": {"artifactLocation!": "artifactLocation", "region": "region"},
	"artifactLocation": {"uri!": "uri"},
	"region":           {"startLine": "positive", "startColumn": "positive", "endLine": "positive", "endColumn": "positive"},
	"codeFlow":         {"threadFlows!": "[threadFlow]"},
	"threadFlow":       {"locations!": "[threadFlowLocation]"},

	"threadFlowLocation": {"location": "location"},
	"fix":                {"description": "message", "artifactChanges!": "[artifactChange]"},
	"artifactChange":     {"artifactLocation!": "artifactLocation", "replacements!": "[replacement]"},
	"replacement":        {"deletedRegion!": "region", "insertedContent": "content"},
	"content":            {"text": "string"},
}

// fits reports what of a value is not as its kind says. Empty lists are none where the standard wants one item.
func fits(at, kind string, v any) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, args...)) }
	if inner, ok := strings.CutPrefix(kind, "["); ok {
		list, ok := v.([]any)
		if !ok {
			say("no list")
		}
		for i, x := range list {
			wrong = append(wrong, fits(fmt.Sprintf("%s[%d]", at, i), strings.TrimSuffix(inner, "]"), x)...)
		}
		if len(list) == 0 && !strings.HasSuffix(at, ".results") && !strings.HasSuffix(at, ".rules") {
			say("empty")
		}
		return wrong
	}
	text, isText := v.(string)
	number, isNumber := v.(float64)
	fields, isObject := v.(map[string]any)
	props, known := shape[kind]
	switch {
	case strings.HasPrefix(kind, "="):
		if text != kind[1:] {
			say("%v, not %s", v, kind[1:])
		}
	case kind == "string" && (!isText || text == "" && !strings.HasSuffix(at, "insertedContent.text")),
		kind == "uri" && (!isText || text == "" || strings.ContainsAny(text, " \\")),
		kind == "level" && !slices.Contains([]string{"none", "note", "warning", "error"}, text),
		kind == "number" && (!isNumber || number < 0), kind == "positive" && (!isNumber || number < 1),
		kind == "strings" && !isObject, known && !isObject:
		say("%v is no %s", v, kind)
	case known:
		for name, x := range fields {
			k := props[name] + props[name+"!"]
			if k == "" {
				say("there is no property %s in a %s", name, kind)
				continue
			}
			wrong = append(wrong, fits(at+"."+name, k, x)...)
		}
		for name := range props {
			if bare, must := strings.CutSuffix(name, "!"); must && fields[bare] == nil {
				say("a %s lacks %s", kind, bare)
			}
		}
	}
	return wrong
}

// checkSARIF holds a log to the standard: in its form, and in what refers to what.
func checkSARIF(t *testing.T, text []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	for _, w := range fits("log", "log", v) {
		t.Error(w)
	}
	var log sarifLog
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	run, prints := log.Runs[0], map[string]bool{}
	for _, r := range run.Results {
		if rules := run.Tool.Driver.Rules; r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("%s is not the rule %d", r.RuleID, r.RuleIndex)
		}
		ids := map[string]bool{}
		for _, l := range r.Related {
			ids[fmt.Sprint(l.ID)] = true
		}
		links := regexp.MustCompile(`[^\\]\]\((\d+)\)`).FindAllStringSubmatch(r.Message.Text, -1)
		if len(links) != len(r.Related) {
			t.Errorf("%d links to %d places in %q", len(links), len(r.Related), r.Message.Text)
		}
		for _, m := range links {
			if !ids[m[1]] {
				t.Errorf("a link to nothing in %q", r.Message.Text)
			}
		}
		for _, l := range slices.Concat(r.Locations, r.Related) {
			if g := l.Physical.Region; g.EndLine < g.StartLine || g.EndLine == g.StartLine && g.EndColumn < g.StartColumn {
				t.Errorf("a region ends before it starts: %+v", g)
			}
		}
		p := r.Fingerprints[fingerprint]
		if len(p) != 32 || prints[p] {
			t.Errorf("the fingerprint %q is there twice, or none", p)
		}
		prints[p] = true
	}
}

// TestFits: the check finds what is wrong.
func TestFits(t *testing.T) {
	for text, want := range map[string]string{
		`{"runs": []}`: "lacks version", `{"version": "2.0.0", "runs": []}`: "not 2.1.0",
		`{"version": "2.1.0", "runs": [{}]}`: "lacks tool", `{"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]}`: "lacks name",
		`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"level": "info"}]}]}`: "is no level",
		`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "result": []}]}`:                   "no property result",
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(fits("log", "log", v), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %q", text, got, want)
		}
	}
}

// TestFingerprints: they stay when lines move and numbers in messages change, and differ by rule, scope, subject and order.
func TestFingerprints(t *testing.T) {
	prints := func(text string, scope string, finds ...string) (list []string) {
		f := source.NewFile("a.go", []byte(text))
		var l diag.List
		for _, x := range finds {
			code, message, _ := strings.Cut(x, " ")
			at := strings.Index(text, "HERE")
			l = append(l, diag.Errorf(diag.Code(code), source.Span{File: f, Start: at, End: at + 4}, "%s", message))
		}
		var buf bytes.Buffer
		if err := Write(&buf, l, Options{Format: SARIF, Tool: "x", Scope: func(*diag.Diagnostic) string { return scope }}); err != nil {
			t.Fatal(err)
		}
		checkSARIF(t, buf.Bytes())
		var log sarifLog
		if err := json.Unmarshal(buf.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		for _, r := range log.Runs[0].Results {
			list = append(list, r.Fingerprints[fingerprint])
		}
		return list
	}
	base := prints("x\nHERE\n", "p.F", "BW5001 `r` is used", "BW5001 `r` is used", "BW5002 7 of 9 are used")
	moved := prints("x\n\n\n   HERE\n", "p.F", "BW5001 `r` is used, in other words", "BW5001 `r` is used", "BW5002 8 of 9 are used")
	if !slices.Equal(base, moved) {
		t.Errorf("they change when lines do: %v, %v", base, moved)
	}
	others := slices.Concat(base, prints("HERE", "p.G", "BW5001 `r` is used"), prints("HERE", "p.F", "BW5002 `r` is used"), prints("HERE", "p.F", "BW5001 `r.s` is used"))
	slices.Sort(others)
	if n := len(slices.Compact(slices.Clone(others))); n != len(others) {
		t.Errorf("%d of %d differ", n, len(others))
	}
}

// TestAddresses: a name becomes a URI, whatever stands in it.
func TestAddresses(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.go": "a/b.go", "a b/é#?.go": "a%20b/%C3%A9%23%3F.go", "/tmp/x y.go": "file:///tmp/x%20y.go", "a:b.go": "./a:b.go",
	} {
		if got := uri(name); got != want {
			t.Errorf("uri(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestGitHubEscapes: no text ends a command and begins another.
func TestGitHubEscapes(t *testing.T) {
	f := source.NewFile("a,b:c%\n::error::x.go", []byte("text"))
	d := diag.Errorf(diag.ForgedHandle, source.Span{File: f, End: 4}, "one\r\n::warning::two %%0A")
	var buf bytes.Buffer
	if err := Write(&buf, diag.List{d}, Options{Format: GitHub}); err != nil {
		t.Fatal(err)
	}
	want := "::error file=a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3Ax.go,line=1,endLine=1,col=1,endColumn=5,title=BW5001 forged-handle::one%0D%0A::warning::two %250A\n"
	if buf.String() != want {
		t.Errorf("got  %q\nwant %q", buf.String(), want)
	}
}
