package cli

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/dynamic"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// fewElements is how many elements of a long list inspect shows without --all.
const fewElements = 16

// inspection is one run of inspect.
type inspection struct {
	*app
	s     *schema.Schema
	d     *resolve.Decl
	f     inspectFlags
	input string

	out    *bufio.Writer
	failed bool      // something was refused
	found  diag.List // what was, where findings are to be written
	hidden int       // how many of them are not kept
}

// elementWriter writes elements in one of the forms.
type elementWriter interface {
	element(e element) error
	end(rest int64) error
}

func (i *inspection) run(in *input) (err error) {
	i.out = bufio.NewWriter(i.app.out)
	if i.f.from == "json" {
		switch in, err = i.encoded(in); {
		case err != nil:
			return err
		case in == nil:
			return i.finish()
		}
	}
	w := i.writer()
	rest := int64(0)
	if i.f.count > 0 {
		rest, err = i.elements(in, w.element)
	} else {
		var raw []byte
		if raw, err = in.all(i.input); err == nil {
			err = w.element(element{index: -1, msg: raw})
		}
	}
	if err == nil {
		err = w.end(rest)
	}
	if flush := i.out.Flush(); err == nil {
		err = flush
	}
	if err != nil {
		return err
	}
	return i.finish()
}

// finish is how a run ends that went through.
func (i *inspection) finish() error {
	if i.format.IsFindings() {
		if i.hidden > 0 {
			i.found = append(i.found, diag.Errorf(diag.MessageRefused, source.Span{}, "%s: %d more elements are refused", i.input, i.hidden))
		}
		return i.report(i.found)
	}
	if i.failed {
		return errFindings
	}
	return nil
}

// encoded is the bytes that JSON stands for. It is nil where they were written already, or where the JSON is none.
func (i *inspection) encoded(in *input) (*input, error) {
	text, err := in.all(i.input)
	if err != nil {
		return nil, err
	}
	if i.f.count == 0 {
		msg, err := dynamic.Encode(i.s.Layouts, i.d, text)
		if err != nil {
			i.refusedJSON(text, err)
			return nil, nil
		}
		return inputOf(msg), nil
	}
	stride, err := i.stride()
	if err != nil {
		return nil, err
	}
	// Once to find what is wrong, before anything is written or held.
	if err := dynamic.EncodeRegion(i.s.Layouts, i.d, text, i.f.count, func([]byte) error { return nil }); err != nil {
		i.refusedJSON(text, err)
		return nil, nil
	}
	if (i.f.to == "bytes" || i.f.to == "hex") && i.f.element < 0 && !i.format.IsMachine() {
		return nil, i.region(text)
	}
	if int64(i.f.count) > maxInput/stride {
		return nil, fmt.Errorf("%s: the region has more than %d MiB; --to=bytes writes it, which can be inspected then", i.input, maxInput>>20)
	}
	var b bytes.Buffer
	err = dynamic.EncodeRegion(i.s.Layouts, i.d, text, i.f.count, func(memory []byte) error {
		b.Write(memory)
		return nil
	})
	return inputOf(b.Bytes()), err
}

// region writes a region that JSON stands for, element by element.
func (i *inspection) region(text []byte) error {
	digits := hex.NewEncoder(i.out)
	err := dynamic.EncodeRegion(i.s.Layouts, i.d, text, i.f.count, func(memory []byte) (err error) {
		if i.f.to == "hex" {
			_, err = digits.Write(memory)
		} else {
			_, err = i.out.Write(memory)
		}
		return err
	})
	if err == nil && i.f.to == "hex" {
		err = i.out.WriteByte('\n')
	}
	return errors.Join(err, i.out.Flush())
}

// writer is for the form that was asked for.
func (i *inspection) writer() elementWriter {
	switch {
	case i.format == report.JSON:
		return &rowsJSON{inspection: i}
	case i.format.IsFindings():
		return &refusals{i}
	case i.f.to == "text":
		return &rowsText{i, bytesTable{w: i.out, all: i.f.all}, 0}
	case i.f.to == "json":
		return &valuesJSON{i, 0}
	}
	return &rawBytes{i}
}

// refused tells why a message is none. What was written before it stands before it, where both go to one terminal.
func (i *inspection) refused(e element) {
	where := ""
	if e.index >= 0 {
		where = fmt.Sprintf(" element %d, at byte %d:", e.index, e.offset)
	}
	i.refuse(source.Span{}, fmt.Sprintf("%s:%s %v", i.input, where, e.err))
}

// refusedJSON tells why JSON is no value, and where.
func (i *inspection) refusedJSON(text []byte, err error) {
	var at source.Span
	var j *dynamic.JSONError
	if i.format.IsFindings() && errors.As(err, &j) {
		file := source.NewFile(i.input, text)
		start := file.LineStart(j.Line) + j.Column - 1
		at = source.Span{File: file, Start: start, End: min(start+1, len(text))}
		i.refuse(at, j.Path+": "+j.Message)
		return
	}
	i.refuse(at, fmt.Sprintf("%s:%v", i.input, err))
}

func (i *inspection) refuse(at source.Span, text string) {
	i.failed = true
	switch {
	case !i.format.IsFindings():
		_ = i.out.Flush() // its error stays, and is looked at when it is flushed at the end
		fmt.Fprintln(i.err, text)
	case len(i.found) < diag.MaxErrors:
		i.found = append(i.found, diag.Errorf(diag.MessageRefused, at, "%s", text))
	default:
		i.hidden++
	}
}

// refusals writes no more than what is refused.
type refusals struct{ *inspection }

func (w *refusals) element(e element) error {
	if e.err == nil {
		e.err = dynamic.Walk(w.s.Layouts, w.d, e.msg, nil)
	}
	if e.err != nil && !errors.Is(e.err, wire.ErrSlotEmpty) {
		w.refused(e)
	}
	return nil
}

func (w *refusals) end(int64) error { return nil }

// rawBytes writes one message as it is, or in hexadecimal digits.
type rawBytes struct{ *inspection }

func (w *rawBytes) element(e element) error {
	if e.err == nil {
		e.err = dynamic.Walk(w.s.Layouts, w.d, e.msg, nil)
	}
	if e.err != nil {
		w.refused(e)
		return nil
	}
	if w.f.to == "bytes" {
		_, err := w.out.Write(e.msg)
		return err
	}
	if _, err := hex.NewEncoder(w.out).Write(e.msg); err != nil {
		return err
	}
	return w.out.WriteByte('\n')
}

func (w *rawBytes) end(int64) error { return nil }

// valuesJSON writes values. A region's have their index, and a slot that nothing was put into has none.
type valuesJSON struct {
	*inspection
	n int // how many were written
}

func (w *valuesJSON) element(e element) error {
	if w.f.count == 0 {
		e.err = dynamic.WriteJSON(w.out, w.s.Layouts, w.d, e.msg)
		if e.err != nil && dynamic.KindName(e.err) == "" {
			return e.err
		}
		if e.err != nil {
			w.refused(e)
		}
		return nil
	}
	if w.n++; w.n == 1 {
		w.out.WriteString("[")
	} else {
		w.out.WriteString(",")
	}
	fmt.Fprintf(w.out, "\n{\"element\": %d, \"offset\": %d, ", e.index, e.offset)
	var value bytes.Buffer
	if e.err == nil {
		e.err = dynamic.WriteJSON(&value, w.s.Layouts, w.d, e.msg)
	}
	switch {
	case errors.Is(e.err, wire.ErrSlotEmpty):
		w.out.WriteString(`"empty": true}`)
	case e.err != nil:
		text, err := json.Marshal(e.err.Error())
		if err != nil {
			return err
		}
		fmt.Fprintf(w.out, `"error": %s}`, text)
		w.refused(e)
	default:
		fmt.Fprintf(w.out, "\"value\": %s}", bytes.TrimSpace(value.Bytes()))
	}
	return nil
}

func (w *valuesJSON) end(int64) error {
	if w.f.count > 0 {
		w.out.WriteString("\n]\n")
	}
	return nil
}

// rowsText writes annotated bytes for people.
type rowsText struct {
	*inspection
	bytesTable
	n int // how many elements were written
}

func (w *rowsText) element(e element) error {
	few := fewElements
	if w.f.all {
		few = 0
	}
	if w.n++; w.n > 1 {
		w.out.WriteByte('\n')
	}
	w.title(w.d.Name, e)
	if e.err == nil {
		e.err = dynamic.Walk(w.s.Layouts, w.d, e.msg, dynamic.NewRows(e.msg, w.d.Name, e.offset, few, w.row))
	}
	switch {
	case errors.Is(e.err, wire.ErrSlotEmpty):
		w.out.WriteString("  empty: nothing was put into this slot\n")
	case e.err != nil:
		w.stopped(e)
		w.refused(e)
	}
	return nil
}

func (w *rowsText) end(rest int64) error {
	if rest > 0 {
		fmt.Fprintf(w.out, "\n%s behind the last element\n", bytesOf(int(rest)))
	}
	return nil
}

func bytesOf(n int) string { return countOf(n, "byte") }

// countOf is a number of things: "1 byte", "2 bytes".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// bytesTable writes rows of bytes: offset, bytes, field, value.
type bytesTable struct {
	w   *bufio.Writer
	all bool
}

// perLine is how many bytes a line shows, and fewLines how many lines a row has without --all.
const perLine, fewLines = 8, 4

func (t *bytesTable) title(name string, e element) {
	if e.index >= 0 {
		fmt.Fprintf(t.w, "%s element %d at byte %d, %s\n", name, e.index, e.offset, bytesOf(len(e.msg)))
		return
	}
	fmt.Fprintf(t.w, "%s, %s\n", name, bytesOf(len(e.msg)))
}

func (t *bytesTable) row(r dynamic.Row) {
	_, path, _ := strings.Cut(r.Path, ".")
	if !strings.Contains(r.Path, ".") {
		if path = ""; strings.HasPrefix(r.Path, "[") || strings.Contains(r.Path, "[") {
			path = r.Path[strings.Index(r.Path, "["):]
		}
	}
	switch r.Role {
	case "length", "presence", "tag", "padding":
		path += " (" + r.Role + ")"
	}
	if r.Role == "more" {
		fmt.Fprintf(t.w, "%8d  %-23s  %s  %s (--all shows them)\n", r.Offset, "…", path, r.Value)
		return
	}
	b := r.Bytes()
	if r.Role == "padding" {
		r.Value = ""
	}
	t.line(r.Offset, b, strings.TrimSpace(path), r.Value)
	for n := perLine; n < len(b); n += perLine {
		if n == perLine*fewLines && !t.all && len(b) > perLine*(fewLines+1) {
			fmt.Fprintf(t.w, "%8d  … %s more (--all shows them)\n", r.Offset+n, bytesOf(len(b)-n))
			return
		}
		t.line(r.Offset+n, b[n:], "", "")
	}
}

func (t *bytesTable) line(offset int, b []byte, path, value string) {
	line := fmt.Sprintf("%8d  %-23s  %-22s  %s", offset, fmt.Sprintf("% x", b[:min(len(b), perLine)]), path, value)
	t.w.WriteString(strings.TrimRight(line, " "))
	t.w.WriteByte('\n')
}

// stopped shows where reading stopped, and why.
func (t *bytesTable) stopped(e element) {
	at, path, why := 0, "", e.err.Error()
	var w *wire.Error
	if errors.As(e.err, &w) {
		at, path = w.Offset, w.Path
		_, path, _ = strings.Cut(path, ".")
		if why = strings.TrimPrefix(w.Kind.Error(), "bare: "); w.Detail != "" {
			why += ": " + w.Detail
		}
	}
	t.line(e.offset+at, e.msg[min(at, len(e.msg)):], path, "<-- "+why)
	if left := len(e.msg) - at; left > perLine {
		fmt.Fprintf(t.w, "%8s  … %s more that were not read\n", "", bytesOf(left-perLine))
	}
}
