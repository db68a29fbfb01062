package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// maxMessage is the length of the longest message that is read, in bytes. A header that
// claims more is wrong, or what sends it is, and who waited for so many bytes would be
// silent for ever: it is answered, and what follows is looked through for the next header.
const maxMessage = 256 << 20

// message is a request, a notification or a response of JSON-RPC 2.0.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"` // a number or string; absent in notifications
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// isRequest reports whether a message wants an answer.
func (m *message) isRequest() bool { return m.Method != "" && len(m.ID) > 0 }

// rpcError is an answer that says that there is none. It is an error for handlers.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// Codes of JSON-RPC and of the protocol.
const (
	parseError      = -32700
	invalidRequest  = -32600
	methodNotFound  = -32601
	invalidParams   = -32602
	internalError   = -32603
	notInitialized  = -32002
	requestFailed   = -32803
	requestCanceled = -32800
)

func errorf(code int, format string, args ...any) *rpcError {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// conn reads and writes messages with the header that the protocol puts before each:
// Content-Length, and an empty line.
type conn struct {
	r *bufio.Reader

	mu  sync.Mutex
	w   io.Writer
	err error // the first error of writing
}

// read returns the next message. What is no message gives an *rpcError, after which
// reading goes on behind it; any other error is the end.
func (c *conn) read() (*message, error) {
	n, err := c.header()
	if err != nil {
		return nil, err
	}
	if n > maxMessage {
		return nil, errorf(invalidRequest, "the message is too long: Content-Length says %d bytes, and the most is %d", n, maxMessage)
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, c.r, n); err != nil {
		return nil, err
	}
	m := &message{}
	if err := json.Unmarshal(body.Bytes(), m); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, errorf(parseError, "%v", err)
		}
		return nil, errorf(invalidRequest, "%v", err)
	}
	if m.Method == "" && m.Result == nil && m.Error == nil {
		return nil, errorf(invalidRequest, "no method")
	}
	if len(m.ID) > 0 && bytes.Equal(m.ID, []byte("null")) {
		m.ID = nil
	}
	return m, nil
}

// header reads up to the empty line and returns the length. Lines that are no header
// are passed over, and so is a header without a length: the next one counts. After a wrong
// length the next header stands behind the rest of a body, in one line with it, and is
// found there. A length that no number can hold is a very long one.
func (c *conn) header() (int64, error) {
	n := int64(-1)
	for {
		line, err := c.line()
		if err != nil {
			return 0, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			if n >= 0 {
				return n, nil
			}
			continue
		}
		if m := contentLength.FindStringSubmatch(line); m != nil {
			x, err := strconv.ParseInt(m[1], 10, 64)
			if err == nil || errors.Is(err, strconv.ErrRange) {
				n = x
			}
		}
	}
}

// contentLength ends a line of a header.
var contentLength = regexp.MustCompile(`(?i)content-length[ \t]*:[ \t]*([0-9]+)[ \t]*$`)

// line reads a line of the header. Of one that is too long for any header it keeps the end only.
func (c *conn) line() (string, error) {
	var before string
	part, err := c.r.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		before = string(part[max(0, len(part)-100):]) // the end may lie across two parts
		part, err = c.r.ReadSlice('\n')
	}
	return before + string(part), err
}

// write sends a message, whose raw parts are JSON already: results can be many megabytes,
// which are not gone over once more. After the first failure nothing is written any more.
func (c *conn) write(m *message) {
	b := []byte(`{"jsonrpc":"2.0"`)
	add := func(name string, raw []byte) {
		if len(raw) > 0 {
			b = append(append(append(append(b, `,"`...), name...), `":`...), raw...)
		}
	}
	add("id", m.ID)
	if m.Method != "" {
		add("method", quoted(m.Method))
	}
	add("params", m.Params)
	add("result", m.Result)
	if m.Error != nil {
		add("error", fmt.Appendf(nil, `{"code":%d,"message":%s}`, m.Error.Code, quoted(m.Error.Message)))
	}
	b = append(b, '}')
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	if _, c.err = fmt.Fprintf(c.w, "Content-Length: %d\r\n\r\n", len(b)); c.err == nil {
		_, c.err = c.w.Write(b)
	}
}

// quoted is a string in JSON. Encoding one cannot fail.
func quoted(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}

// reply answers a request.
func (c *conn) reply(id json.RawMessage, result any, err error) {
	m := &message{ID: id}
	if len(id) == 0 {
		m.ID = json.RawMessage("null")
	}
	var rpc *rpcError
	switch {
	case errors.As(err, &rpc):
		m.Error = rpc
	case err != nil:
		m.Error = errorf(internalError, "%v", err)
	default:
		if m.Result, err = json.Marshal(result); err != nil {
			m.Result, m.Error = nil, errorf(internalError, "%v", err)
		}
	}
	c.write(m)
}

// notify sends a notification.
func (c *conn) notify(method string, params any) {
	p, err := json.Marshal(params)
	if err != nil {
		return // our own types: this cannot fail
	}
	c.write(&message{Method: method, Params: p})
}
