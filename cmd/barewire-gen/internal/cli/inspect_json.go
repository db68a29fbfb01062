package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/dynamic"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// rowsJSON writes annotated bytes as one document, all rows of it:
//
//	{"version": 1, "type": "Sample", "elements": [{…}], "rest": 0}
//
// It writes a row when it is known, since a document may have a hundred times the size of its message. An element has
//
//	element  its index in the region; not there for a message by itself
//	offset   of the message in the input, in bytes
//	size     of the message, in bytes
//	empty    true where nothing was put into a slot
//	rows     [dynamic.Row]s
//	error    why the message is none, an inspectedFail
//
// and behind the last one come rest bytes.
type rowsJSON struct {
	*inspection
	n int // how many elements were written

	text bytes.Buffer
	enc  *json.Encoder // into text, as rows stand in the document
}

// inspectedFail is why a message is none.
type inspectedFail struct {
	Kind    string `json:"kind"` // short, trailing, varint, …
	Path    string `json:"path,omitempty"`
	Offset  int    `json:"offset"` // in the input, in bytes
	Message string `json:"message"`
}

func (w *rowsJSON) element(e element) error {
	if w.n++; w.n == 1 {
		name, err := indented(w.d.Name, "")
		if err != nil {
			return err
		}
		fmt.Fprintf(w.out, "{\n  \"version\": %d,\n  \"type\": %s,\n  \"elements\": [\n    {", report.DocumentVersion, name)
	} else {
		w.out.WriteString(",\n    {")
	}
	if e.index >= 0 {
		fmt.Fprintf(w.out, "\n      \"element\": %d,", e.index)
	}
	fmt.Fprintf(w.out, "\n      \"offset\": %d,\n      \"size\": %d,", e.offset, len(e.msg))
	empty := errors.Is(e.err, wire.ErrSlotEmpty)
	if empty {
		w.out.WriteString("\n      \"empty\": true,")
	}
	w.out.WriteString("\n      \"rows\": [")
	if err := w.rows(&e); err != nil {
		return err
	}
	w.out.WriteString("]")
	if e.err != nil && !empty {
		fail, err := indented(failOf(e), "      ")
		if err != nil {
			return err
		}
		fmt.Fprintf(w.out, ",\n      \"error\": %s", fail)
		w.failed = true // the document tells it
	}
	w.out.WriteString("\n    }")
	return nil
}

// rows writes the rows of a message, up to where it is refused.
func (w *rowsJSON) rows(e *element) (failed error) {
	if e.err != nil {
		return nil
	}
	if w.enc == nil {
		w.enc = json.NewEncoder(&w.text)
		w.enc.SetEscapeHTML(false)
		w.enc.SetIndent("        ", "  ")
	}
	n := 0
	e.err = dynamic.Walk(w.s.Layouts, w.d, e.msg, dynamic.NewRows(e.msg, w.d.Name, e.offset, 0, func(r dynamic.Row) {
		r.Hex = hex.EncodeToString(r.Bytes())
		w.text.Reset()
		if err := w.enc.Encode(r); failed == nil {
			failed = err
		}
		if n > 0 {
			w.out.WriteByte(',')
		}
		n++
		w.out.WriteString("\n        ")
		w.out.Write(bytes.TrimSuffix(w.text.Bytes(), []byte("\n")))
	}))
	if n > 0 {
		w.out.WriteString("\n      ")
	}
	return failed
}

func (w *rowsJSON) end(rest int64) error {
	_, err := fmt.Fprintf(w.out, "\n  ],\n  \"rest\": %d\n}\n", rest)
	return err
}

func failOf(e element) inspectedFail {
	fail := inspectedFail{Kind: dynamic.KindName(e.err), Offset: e.offset, Message: e.err.Error()}
	var at *wire.Error
	if errors.As(e.err, &at) {
		fail.Path, fail.Offset = at.Path, e.offset+at.Offset
	}
	return fail
}

// indented is a value as writeJSON writes it, below a margin.
func indented(v any, margin string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(margin, "  ")
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
