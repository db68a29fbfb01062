package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// client is an editor: it sends what a test says, over pipes, in the real protocol.
type client struct {
	t     testing.TB
	w     io.WriteCloser
	in    chan *message
	ended chan error
	clean bool
	next  int
	notes []*message // notifications that came while an answer was awaited
}

// start begins a session, without a word yet.
func start(t testing.TB) *client {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	c := &client{t: t, w: toServer, in: make(chan *message, 100), ended: make(chan error, 1)}
	go func() {
		var err error
		c.clean, err = Serve(context.Background(), fromClient, toClient, Options{Version: "v0", Rules: "https://example.org/codes.md"})
		toClient.Close()
		c.ended <- err
	}()
	go func() {
		defer close(c.in)
		k := &conn{r: bufio.NewReader(fromServer)}
		for {
			m, err := k.read()
			if err != nil {
				return
			}
			c.in <- m
		}
	}()
	t.Cleanup(func() {
		toServer.Close()
		fromServer.Close()
	})
	return c
}

// session begins a session and initializes it.
func session(t testing.TB) *client {
	c := start(t)
	var r struct {
		Capabilities map[string]any
		ServerInfo   struct{ Name, Version string }
	}
	c.ask("initialize", `{"processId":null,"capabilities":{}}`, &r)
	if r.Capabilities["positionEncoding"] != "utf-16" || r.ServerInfo.Name != "barewire-gen" {
		t.Fatalf("%+v", r)
	}
	c.tell("initialized", `{}`)
	return c
}

func (c *client) raw(text string) {
	if _, err := io.WriteString(c.w, text); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) send(body string) {
	c.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
}

func (c *client) tell(method, params string) {
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// message is the next message from the server.
func (c *client) message() *message {
	c.t.Helper()
	select {
	case m, ok := <-c.in:
		if !ok {
			c.t.Fatal("the server has gone")
		}
		return m
	case <-time.After(4 * time.Minute): // processes may be frozen for a while
		c.t.Fatal("no answer")
	}
	return nil
}

// answer waits for the answer to a request.
func (c *client) answer(id string) *message {
	c.t.Helper()
	for {
		m := c.message()
		if m.Method == "" && (string(m.ID) == id || id == "null" && m.ID == nil) { // read drops null
			return m
		}
		c.notes = append(c.notes, m)
	}
}

// post sends a request and returns its ID.
func (c *client) post(method, params string) string {
	c.next++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.next, method, params))
	return fmt.Sprint(c.next)
}

// ask sends a request and reads the answer into a result.
func (c *client) ask(method, params string, result any) {
	c.t.Helper()
	m := c.answer(c.post(method, params))
	if m.Error != nil {
		c.t.Fatalf("%s %s: %v", method, params, m.Error)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			c.t.Fatalf("%s: %v in %s", method, err, m.Result)
		}
	}
}

// fails sends a request whose answer is an error with a code.
func (c *client) fails(method, params string, code int, words string) {
	c.t.Helper()
	m := c.answer(c.post(method, params))
	if m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, words) {
		c.t.Errorf("%s %s: %+v %s, want %d %q", method, params, m.Error, m.Result, code, words)
	}
}

// note waits for a notification.
func (c *client) note(method string) *message {
	c.t.Helper()
	for i, m := range c.notes {
		if m.Method == method {
			c.notes = append(c.notes[:i:i], c.notes[i+1:]...)
			return m
		}
	}
	for {
		if m := c.message(); m.Method == method {
			return m
		}
	}
}

// diagnostics waits for those of a document's version.
func (c *client) diagnostics(uri string, version int) publishDiagnosticsParams {
	c.t.Helper()
	for {
		var p publishDiagnosticsParams
		if err := json.Unmarshal(c.note("textDocument/publishDiagnostics").Params, &p); err != nil {
			c.t.Fatal(err)
		}
		if p.URI == uri && (version == 0 && p.Version == nil || p.Version != nil && *p.Version == version) {
			return p
		}
	}
}

func (c *client) open(uri, text string) {
	b, _ := json.Marshal(text)
	c.tell("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"bare","version":1,"text":%s}}`, uri, b))
}

// change replaces a range.
func (c *client) change(uri string, version, line, char, endLine, endChar int, text string) {
	b, _ := json.Marshal(text)
	c.tell("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":%d},"contentChanges":[{"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}},"text":%s}]}`,
		uri, version, line, char, endLine, endChar, b))
}

// at is the parameters that name a place, without the closing brace.
func at(uri string, line, char int) string {
	return fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":%d,"character":%d}`, uri, line, char)
}

func docOf(uri string) string { return fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri) }

// end ends a session as the protocol wants it.
func (c *client) end() {
	c.t.Helper()
	c.ask("shutdown", "null", nil)
	c.tell("exit", "null")
	if err := <-c.ended; err != nil || !c.clean {
		c.t.Errorf("the end: %v, orderly %v", err, c.clean)
	}
}

// apply does edits to a text, last one first, as an editor would.
func apply(t testing.TB, text string, edits []textEdit) string {
	u := newUnit("x", nil, []byte(text))
	for i := len(edits) - 1; i >= 0; i-- {
		u = u.changed(nil, &edits[i].Range, edits[i].NewText)
	}
	return string(bytes.Clone(u.file.Text()))
}
