package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// serve runs a session over what a client sent, whose end is the end of the input, and
// fails if the server says that it has a bug.
func serve(t *testing.T, in []byte) string {
	var out bytes.Buffer
	if _, err := Serve(context.Background(), bytes.NewReader(in), &out, Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "a bug in barewire-gen") {
		t.Fatalf("%s", &out)
	}
	return out.String()
}

func framed(bodies ...string) []byte {
	var b bytes.Buffer
	for _, x := range bodies {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(x), x)
	}
	return b.Bytes()
}

// FuzzRaw: whatever comes, the server answers or passes over it.
func FuzzRaw(f *testing.F) {
	f.Add(framed(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"x","version":1,"text":"type A u8"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"x"},"position":{"line":0,"character":5}}}`))
	f.Add([]byte("Content-Length: 99999999999999\r\n\r\n"))
	f.Add(framed(`[]`, `{}`, `{"method":"initialize","id":{}}`, `null`))
	f.Fuzz(func(t *testing.T, in []byte) { serve(t, in) })
}

// FuzzSession: no text, change or place is too much for any request.
func FuzzSession(f *testing.F) {
	f.Add(sample, "type X u8", 3, 2, 1, 40)
	f.Add("type A struct { a: A }", "\xff", 0, 5, -1, 1<<30)
	f.Add("enum A u8 { B } type C { a: []A b: [2]string } type D (A|C)", "\n#@ref(A", 0, 0, 0, 9)
	f.Add("# a\r\n#@go(name=X)\r\ntype U union{ | A |", "😀", 1, 0, 2, 3)
	f.Fuzz(func(t *testing.T, text, insert string, line, char, endLine, endChar int) {
		if len(text) > 4096 || len(insert) > 4096 {
			return
		}
		quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
		place := fmt.Sprintf(`"textDocument":{"uri":"file:///none/x.bare","version":2},"position":{"line":%d,"character":%d}`, line, char)
		span := fmt.Sprintf(`{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}`, line, char, endLine, endChar)
		bodies := []string{
			`{"id":0,"method":"initialize","params":{}}`,
			fmt.Sprintf(`{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///none/x.bare","version":1,"text":%s}}}`, quote(text)),
		}
		ask := func(params string) {
			for method := range requests {
				if method != "initialize" && method != "shutdown" {
					bodies = append(bodies, fmt.Sprintf(`{"id":1,"method":%q,"params":{%s}}`, method, params))
				}
			}
		}
		all := place + `,"range":` + span + `,"newName":` + quote(insert) + `,"context":{"includeDeclaration":true}`
		ask(all)
		bodies = append(bodies, fmt.Sprintf(`{"method":"textDocument/didChange","params":{%s,"contentChanges":[{"range":%s,"text":%s}]}}`, place, span, quote(insert)))
		ask(all)
		out := serve(t, framed(bodies...))
		// Each request has one answer, but for hovers that wait when the input ends.
		if n := strings.Count(out, `"id":1`); n > 2*(len(requests)-2) || n < 2*(len(requests)-2)-2 {
			t.Fatalf("%d answers to %d requests\n%s", n, 2*(len(requests)-2), out)
		}
	})
}
