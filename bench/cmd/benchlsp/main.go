// Command benchlsp measures how long an editor waits: barewire-gen lsp, as a process of its own, over a schema of
// 10,000 types. Each round types a character and asks at once, so that nothing is known of the text yet.
//
// Times are wall time from the request to the answer, medians and greatest of the rounds. Nothing is asserted. It must run
// in the bench module's directory.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
	"github.com/fidelityframework/barewire-gen/bench/internal/synth"
)

func main() {
	types := flag.Int("types", 10000, "types in the schema")
	rounds := flag.Int("rounds", 15, "rounds of each request")
	flag.Parse()
	if err := run(*types, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "benchlsp:", err)
		os.Exit(1)
	}
}

func run(types, rounds int) error {
	dir, err := os.MkdirTemp("", "benchlsp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tool := filepath.Join(dir, "barewire-gen")
	build := exec.Command("go", "build", "-o", tool, "./cmd/barewire-gen")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	cmd := exec.Command(tool, "lsp")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	e := &editor{w: in, r: bufio.NewReaderSize(out, 1<<20), text: string(synth.Schema(types, synth.New))}
	if err := e.session(types, rounds); err != nil {
		_ = cmd.Process.Kill() // what went wrong is told
		return err
	}
	return cmd.Wait()
}

// editor is the other side of the server.
type editor struct {
	w       io.Writer
	r       *bufio.Reader
	text    string
	id      int
	version int
	seen    int // the version of the last diagnostics
}

const uri = "file:///bench/large.bare"

// session opens the schema and measures.
func (e *editor) session(types, rounds int) error {
	if _, err := e.ask("initialize", `{"capabilities":{}}`); err != nil {
		return err
	}
	text, err := json.Marshal(e.text)
	if err != nil {
		return err
	}
	start := time.Now()
	e.version = 1
	if err := e.tell("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":1,"text":%s}}`, uri, text)); err != nil {
		return err
	}
	if err := e.until("textDocument/publishDiagnostics"); err != nil {
		return err
	}
	fmt.Printf("%s\n\n%d types, %.1f MB; opened and diagnosed after %.0f ms\n\n", figures.Machine(), types, float64(len(e.text))/1e6, ms(time.Since(start)))
	fmt.Println("| after a character typed | median ms | greatest ms |\n|---|--:|--:|")
	lines := strings.Split(e.text, "\n")
	mid := len(lines) / 2
	for !strings.Contains(lines[mid], ": ") || strings.Contains(lines[mid], "{") {
		mid++
	}
	colon := strings.Index(lines[mid], ": ")
	here := fmt.Sprintf(`"textDocument":{"uri":%q},"position":{"line":%d,"character":%d}`, uri, mid, colon-1)
	for _, x := range []struct{ name, method, params string }{
		{"completion of types", "textDocument/completion", strings.Replace(here, fmt.Sprintf(`"character":%d`, colon-1), fmt.Sprintf(`"character":%d`, colon+2), 1)},
		{"definition", "textDocument/definition", strings.Replace(here, fmt.Sprintf(`"character":%d`, colon-1), fmt.Sprintf(`"character":%d`, colon+3), 1)},
		{"references", "textDocument/references", here + `,"context":{}`},
		{"colors of a screen", "textDocument/semanticTokens/range", fmt.Sprintf(`"textDocument":{"uri":%q},"range":{"start":{"line":%d,"character":0},"end":{"line":%d,"character":0}}`, uri, mid, mid+60)},
		{"colors of everything", "textDocument/semanticTokens/full", here},
		{"outline", "textDocument/documentSymbol", here},
		{"hover, which waits for the compiler", "textDocument/hover", here},
		{"formatting", "textDocument/formatting", here},
		{"diagnostics", "", ""},
	} {
		var took []time.Duration
		for range rounds {
			d, err := e.round(x.method, "{"+x.params+"}", mid)
			if err != nil {
				return err
			}
			took = append(took, d)
		}
		slices.Sort(took)
		fmt.Printf("| %s | %.1f | %.1f |\n", x.name, ms(took[len(took)/2]), ms(took[len(took)-1]))
	}
	if _, err := e.ask("shutdown", "null"); err != nil {
		return err
	}
	return e.tell("exit", "null")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// round types a character into a line, or takes it away, and measures until the answer; without
// a method, until the diagnostics.
func (e *editor) round(method, params string, line int) (time.Duration, error) {
	e.version++
	change := fmt.Sprintf(`{"range":{"start":{"line":%d,"character":0},"end":{"line":%d,"character":0}},"text":" "}`, line, line)
	if e.version%2 == 1 {
		change = fmt.Sprintf(`{"range":{"start":{"line":%d,"character":0},"end":{"line":%d,"character":1}},"text":""}`, line, line)
	}
	start := time.Now()
	if err := e.tell("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":%d},"contentChanges":[%s]}`, uri, e.version, change)); err != nil {
		return 0, err
	}
	if method == "" {
		err := e.until("textDocument/publishDiagnostics")
		return time.Since(start), err
	}
	if _, err := e.ask(method, params); err != nil {
		return 0, err
	}
	took := time.Since(start)
	// Let the compiler end, so that the next round begins at rest.
	return took, e.settle()
}

// settle waits for the diagnostics of the version, if they have not come yet.
func (e *editor) settle() error {
	if e.seen >= e.version {
		return nil
	}
	return e.until("textDocument/publishDiagnostics")
}

func (e *editor) tell(method, params string) error {
	return e.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

func (e *editor) send(body string) error {
	_, err := fmt.Fprintf(e.w, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

type message struct {
	ID     int
	Method string
	Params struct{ Version int }
	Error  *struct{ Message string }
}

func (e *editor) ask(method, params string) (*message, error) {
	e.id++
	if err := e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, e.id, method, params)); err != nil {
		return nil, err
	}
	for {
		m, err := e.read()
		if err != nil {
			return nil, err
		}
		if m.ID == e.id {
			if m.Error != nil {
				return nil, fmt.Errorf("%s: %s", method, m.Error.Message)
			}
			return m, nil
		}
	}
}

// until waits for the diagnostics of the version that is typed.
func (e *editor) until(method string) error {
	for e.seen < e.version {
		if _, err := e.read(); err != nil {
			return err
		}
	}
	return nil
}

func (e *editor) read() (*message, error) {
	n := -1
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if n, err = strconv.Atoi(v); err != nil {
				return nil, err
			}
		}
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, e.r, int64(n)); err != nil {
		return nil, err
	}
	m := &message{}
	// The results are of many shapes, and of no interest here.
	if err := json.Unmarshal(body.Bytes(), m); err != nil {
		return nil, err
	}
	if m.Method == "textDocument/publishDiagnostics" {
		e.seen = m.Params.Version
	}
	return m, nil
}
