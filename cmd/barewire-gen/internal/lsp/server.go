// Package lsp is a server of the Language Server Protocol for schemas: what an editor
// shows while somebody writes one. It decides nothing about the language; all that it
// says comes from package schema and what is below it.
//
// One goroutine reads messages, one answers them in their order, and one compiles. The
// text is parsed when somebody asks about it; the rest of the compiler runs beside,
// when no message came for a moment, so that typing never waits for it.
package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Options are for [Serve].
type Options struct {
	Version string // of this command, told to the editor
	// Rules is where the page of the codes is; a link to it goes with each diagnostic.
	// It may be empty.
	Rules string
}

// pause is how long nothing must come before what was typed is compiled.
const pause = 40 * time.Millisecond

// Serve answers messages until one asks it to end, the input ends, or ctx does. It
// reports whether the end was as the protocol wants it: a request shutdown, and then a
// notification exit. The error is that of the output, of ctx, or of input that cannot be
// read on.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) (orderly bool, err error) {
	s := &server{
		conn: &conn{r: bufio.NewReaderSize(in, 64<<10), w: out},
		o:    o, docs: map[string]*document{}, disk: map[string]*diskFile{},
		done: make(chan func(), 16), queue: queue{more: make(chan struct{}, 1), canceled: map[string]bool{}},
	}
	if os.Getenv("GOGC") == "" {
		// A text that is typed in is parsed again and again: collecting as often as
		// by default would take a third of the time.
		defer debug.SetGCPercent(debug.SetGCPercent(300))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	go s.receive()
	for {
		idle := s.idle()
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case f := <-s.done:
			s.guard(nil, f)
		case <-s.queue.more:
			for m, ok := s.queue.next(); ok; m, ok = s.queue.next() {
				s.guard(m.ID, func() { s.handle(m) })
				if s.exit {
					return s.state == stopping, s.conn.failure()
				}
				if err := s.conn.failure(); err != nil {
					return false, err
				}
			}
			if s.queue.ended() {
				return s.state == stopping, s.conn.failure()
			}
		case <-idle:
			s.guard(nil, s.compileDirty)
		}
	}
}

// server is one session.
type server struct {
	*conn
	o     Options
	ctx   context.Context
	queue queue
	done  chan func() // what compilations have to say, for the goroutine that answers

	state state
	exit  bool
	plain bool                 // the editor takes no snippets
	docs  map[string]*document // by URI
	disk  map[string]*diskFile // by path
}

type state uint8

const (
	starting state = iota // before initialize
	running
	stopping // after shutdown
)

// failure is the first error of writing.
func (c *conn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// queue is the messages that wait. Cancellations overtake them.
type queue struct {
	mu       sync.Mutex
	waiting  []*message
	canceled map[string]bool // requests by ID
	end      bool
	more     chan struct{}
}

func (q *queue) put(m *message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if m.Method == "$/cancelRequest" {
		var p struct {
			ID json.RawMessage `json:"id"`
		}
		// A wrong one cancels nothing. One for a request that is not waiting comes too late.
		if json.Unmarshal(m.Params, &p) == nil {
			for _, w := range q.waiting {
				if string(w.ID) == string(p.ID) {
					q.canceled[string(p.ID)] = true
				}
			}
		}
		return
	}
	q.waiting = append(q.waiting, m)
	q.wake()
}

// close ends the queue.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end = true
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) next() (*message, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil, false
	}
	m := q.waiting[0]
	q.waiting = q.waiting[1:]
	return m, true
}

// dropped reports whether a request was canceled while it waited.
func (q *queue) dropped(id json.RawMessage) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.canceled[string(id)]
	delete(q.canceled, string(id))
	return was
}

// ended reports whether the input has ended and everything is answered.
func (q *queue) ended() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.end && len(q.waiting) == 0
}

// receive reads messages into the queue.
func (s *server) receive() {
	for {
		m, err := s.read()
		var bad *rpcError
		switch {
		case errors.As(err, &bad):
			s.reply(nil, nil, bad)
		case err != nil:
			s.queue.close()
			return
		default:
			s.queue.put(m)
		}
	}
}

// idle fires when it is time to compile what has changed; never while there is nothing.
func (s *server) idle() <-chan time.Time {
	for _, d := range s.docs {
		if d.dirty && !d.busy {
			return time.After(pause)
		}
	}
	return nil
}

// guard runs f. A panic is a bug of ours: the request gets an error, the log the place,
// and the server goes on.
func (s *server) guard(id json.RawMessage, f func()) {
	defer func() {
		if p := recover(); p != nil {
			s.notify("window/logMessage", logMessageParams{1, fmt.Sprintf("a bug in barewire-gen: %v\n%s", p, debug.Stack())})
			if len(id) > 0 {
				s.reply(id, nil, errorf(internalError, "a bug in barewire-gen: %v", p))
			}
		}
	}()
	f()
}

// handle answers one message.
func (s *server) handle(m *message) {
	switch {
	case m.Method == "":
		return // an answer; we ask nothing
	case m.isRequest() && s.queue.dropped(m.ID):
		s.reply(m.ID, nil, errorf(requestCanceled, "canceled"))
	case m.Method == "exit":
		s.exit = true
	case s.state == starting && m.Method != "initialize":
		if m.isRequest() {
			s.reply(m.ID, nil, errorf(notInitialized, "`%s` before `initialize`", m.Method))
		}
	case s.state == stopping:
		if m.isRequest() {
			s.reply(m.ID, nil, errorf(invalidRequest, "`%s` after `shutdown`", m.Method))
		}
	case m.isRequest():
		s.request(m)
	default:
		s.notification(m)
	}
}

// later is an answer that comes when something else has: see hover.
var errLater = errors.New("answered later")

func (s *server) request(m *message) {
	var result any
	var err error
	if answer, ok := requests[m.Method]; ok {
		result, err = answer(s, m)
	} else {
		err = errorf(methodNotFound, "there is no method `%s` here", m.Method)
	}
	if err == errLater {
		return
	}
	s.reply(m.ID, result, err)
}

// requests are the methods that have answers.
var requests map[string]func(*server, *message) (any, error)

func init() { // not a literal: handlers lead back to the table
	requests = map[string]func(*server, *message) (any, error){
		"initialize":                        (*server).initialize,
		"shutdown":                          (*server).shutdown,
		"textDocument/definition":           with((*server).definition),
		"textDocument/references":           with((*server).references),
		"textDocument/documentHighlight":    with((*server).highlights),
		"textDocument/prepareRename":        with((*server).prepareRename),
		"textDocument/rename":               with((*server).rename),
		"textDocument/hover":                (*server).hover,
		"textDocument/completion":           with((*server).completion),
		"textDocument/formatting":           with((*server).formatting),
		"textDocument/codeAction":           with((*server).codeActions),
		"textDocument/documentSymbol":       with((*server).symbols),
		"textDocument/foldingRange":         with((*server).foldings),
		"textDocument/semanticTokens/full":  with((*server).tokensFull),
		"textDocument/semanticTokens/range": with((*server).tokensRange),
	}
}

// with reads the parameters for a handler.
func with[P any](f func(*server, *P) (any, error)) func(*server, *message) (any, error) {
	return func(s *server, m *message) (any, error) {
		p, err := params[P](m)
		if err != nil {
			return nil, err
		}
		return f(s, p)
	}
}

func params[P any](m *message) (*P, error) {
	p := new(P)
	if len(m.Params) == 0 {
		return nil, errorf(invalidParams, "`%s` needs parameters", m.Method)
	}
	if err := json.Unmarshal(m.Params, p); err != nil {
		return nil, errorf(invalidParams, "%v", err)
	}
	return p, nil
}

// open is the document that a request is about.
func (s *server) open(id textDocumentIdentifier) (*document, error) {
	if d := s.docs[id.URI]; d != nil {
		return d, nil
	}
	return nil, errorf(invalidParams, "`%s` is not open", id.URI)
}

func (s *server) initialize(m *message) (any, error) {
	if s.state != starting {
		return nil, errorf(invalidRequest, "`initialize` a second time")
	}
	s.state = running
	var p initializeParams
	_ = json.Unmarshal(m.Params, &p) // an editor that says it wrongly does not say it
	s.plain = !p.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport
	return map[string]any{
		"capabilities": capabilities,
		"serverInfo":   map[string]string{"name": "barewire-gen", "version": s.o.Version},
	}, nil
}

func (s *server) shutdown(*message) (any, error) {
	s.state = stopping
	return nil, nil
}

// notification does what a notification asks for. What is unknown or wrong is passed
// over, as the protocol wants it.
func (s *server) notification(m *message) {
	switch m.Method {
	case "textDocument/didOpen":
		if p, err := params[didOpenParams](m); err == nil {
			version := p.TextDocument.Version
			s.docs[p.TextDocument.URI] = &document{unit: newUnit(p.TextDocument.URI, &version, []byte(p.TextDocument.Text)), uris: map[*source.File]string{}}
			s.changed()
		}
	case "textDocument/didChange":
		if p, err := params[didChangeParams](m); err == nil {
			s.didChange(p)
		}
	case "textDocument/didClose":
		if p, err := params[documentParams](m); err == nil && s.docs[p.TextDocument.URI] != nil {
			d := s.docs[p.TextDocument.URI]
			delete(s.docs, p.TextDocument.URI)
			d.answerWaiting()
			s.notify("textDocument/publishDiagnostics", publishDiagnosticsParams{URI: d.uri, Diagnostics: []lspDiagnostic{}})
			s.changed()
		}
	case "textDocument/didSave", "workspace/didChangeWatchedFiles":
		s.changed() // other files may have changed, too
	}
}

func (s *server) didChange(p *didChangeParams) {
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return
	}
	for _, c := range p.ContentChanges {
		d.unit = d.unit.changed(p.TextDocument.Version, c.Range, c.Text)
	}
	s.changed()
}

// changed notes that every document has to be compiled again: those beside it may be
// part of what they mean.
func (s *server) changed() {
	for _, d := range s.docs {
		d.dirty = true
	}
}
