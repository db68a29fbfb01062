package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fidelityframework/barewire-gen/internal/golden"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestGolden renders the findings that each file's "findings" section describes
// over the sources beside it. A finding is a line
//
//	error BW1104 a.bare:2:3+4 the message
//
// followed by lines that add to it: label, also, note, help, fix, edit.
func TestGolden(t *testing.T) {
	isInput := func(name string) bool { return strings.HasSuffix(name, ".bare") || name == "findings" }
	golden.Run(t, "testdata/*.txtar", isInput, func(t *testing.T, notes string, in []txtar.File) []txtar.File {
		l := findings(t, in)
		out := func(f Format) txtar.File {
			var buf bytes.Buffer
			o := Options{Format: f, Limit: Limit, Tool: "barewire-gen", Flows: strings.Contains(notes, "a path"), Color: strings.Contains(notes, "in color")}
			if _, columns, ok := strings.Cut(notes, "columns: "); ok {
				if _, err := fmt.Sscan(columns, &o.Width); err != nil {
					t.Fatal(err)
				}
			}
			if err := Write(&buf, l, o); err != nil {
				t.Fatal(err)
			}
			if f == SARIF {
				checkSARIF(t, buf.Bytes())
			}
			// An escape would make the golden file binary for reviewers.
			return txtar.File{Name: string(f), Data: bytes.ReplaceAll(buf.Bytes(), []byte("\x1b"), []byte("^["))}
		}
		return []txtar.File{out(Text), out(Short), out(JSON), out(SARIF), out(GitHub)}
	})
}

func findings(t *testing.T, in []txtar.File) (l diag.List) {
	files := map[string]*source.File{}
	var script string
	for _, f := range in {
		if f.Name == "findings" {
			script = string(f.Data)
			continue
		}
		// Control characters and line ends that an editor would eat are
		// written as escapes in the golden file.
		text := strings.NewReplacer(`\t`, "\t", `\r`, "\r", `\e`, "\x1b", `\xff`, "\xff", `\u202e`, "\u202e").Replace(string(f.Data))
		files[f.Name] = source.NewFile(f.Name, []byte(text))
	}
	span := func(s string) source.Span {
		if s == "-" {
			return source.Span{}
		}
		var line, col, n int
		name, rest, _ := strings.Cut(s, ":")
		if _, err := fmt.Sscanf(rest, "%d:%d+%d", &line, &col, &n); err != nil || files[name] == nil {
			t.Fatalf("bad place %q: %v", s, err)
		}
		start := files[name].LineStart(line) + col - 1
		return source.Span{File: files[name], Start: start, End: start + n}
	}
	severities := map[string]diag.Severity{"error": diag.Error, "warning": diag.Warning, "info": diag.Info}
	for lines := bufio.NewScanner(strings.NewReader(script)); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if sev, ok := severities[word]; ok {
			part := strings.SplitN(rest, " ", 3)
			d := diag.Errorf(diag.Code(part[0]), span(part[1]), "%s", part[2])
			d.Severity = sev
			l = append(l, d)
			continue
		}
		d := l[len(l)-1]
		at, text, _ := strings.Cut(rest, " ")
		switch word {
		case "label":
			d.Labelf("%s", rest)
		case "also":
			d.Also(span(at), "%s", text)
		case "note":
			d.Notef("%s", strings.ReplaceAll(rest, `\n`, "\n"))
		case "help":
			d.Helpf("%s", rest)
		case "fix":
			d.Fix(rest)
		case "edit":
			f := &d.Fixes[len(d.Fixes)-1]
			f.Edits = append(f.Edits, diag.Edit{Span: span(at), New: strings.ReplaceAll(text, `\n`, "\n")})
		default:
			t.Fatalf("unknown line %q", lines.Text())
		}
	}
	return l
}

func TestLimit(t *testing.T) {
	f := source.NewFile("a.bare", []byte("type A u8\n"))
	var l diag.List
	for i := range 25 {
		l = append(l, diag.Errorf(diag.Internal, source.Span{File: f, Start: i % 8, End: i%8 + 1}, "number %d", i))
	}
	var text, short bytes.Buffer
	for buf, format := range map[*bytes.Buffer]Format{&text: Text, &short: Short} {
		if err := Write(buf, l, Options{Format: format, Limit: Limit, Tool: "x"}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(buf.String(), "number "); n != 20 {
			t.Errorf("%s shows %d errors, want 20", format, n)
		}
		if !strings.Contains(buf.String(), "25 errors; 5 not shown (--format=json has all)") {
			t.Errorf("%s does not say how many there are:\n%s", format, buf)
		}
	}
	var doc bytes.Buffer
	if err := Write(&doc, l, Options{Format: JSON, Limit: Limit}); err != nil {
		t.Fatal(err)
	}
	var d Document
	if err := json.Unmarshal(doc.Bytes(), &d); err != nil || len(d.Diagnostics) != 25 || d.Summary.Errors != 25 {
		t.Errorf("JSON has %d of 25 errors (%v)", len(d.Diagnostics), err)
	}
}

// TestHugeLine: a place in a line of many megabytes is found at once, and only
// what is near it is shown.
func TestHugeLine(t *testing.T) {
	f := source.NewFile("a.bare", []byte(strings.Repeat("é ", 5<<20)+"WRONG"+strings.Repeat(" é", 5<<20)))
	at := source.Span{File: f, Start: 15 << 20, End: 15<<20 + 5}
	var buf bytes.Buffer
	if err := Write(&buf, diag.List{diag.Errorf(diag.Internal, at, "here")}, Options{Format: Text, Tool: "x"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(buf.String(), "\n")
	if len(lines) < 4 || buf.Len() > 2000 {
		t.Fatalf("%d bytes:\n%s", buf.Len(), buf.String())
	}
	code := []rune(strings.SplitN(lines[2], "|", 2)[1])
	marks := strings.SplitN(lines[3], "|", 2)[1]
	i := strings.Index(marks, "^^^^^")
	if i < 0 || string(code[i:i+5]) != "WRONG" {
		t.Errorf("the carets are off:\n%s", buf.String())
	}
}
