package cli

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/dynamic"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/view"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// maxInput is how much inspect reads, in bytes.
const maxInput = 1 << 30

// fewElements is how many elements of a long list inspect shows without --all.
const fewElements = 16

type inspectFlags struct {
	hex     string
	from    string // bytes, hex or json
	to      string // text, json, bytes or hex
	count   int
	element int
	all     bool
	spec    specFlag
}

func (a *app) inspectCommand() *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect file|directory... type [input|-]",
		Short: "Show what bytes mean: annotated, or as JSON; and make bytes of JSON",
		Long: `Inspect reads a message of a type and shows each byte with its place, its field
and its value. The input is a file, - for the standard input, or --hex. Of a
message that a decoder would refuse it shows what could be read, and then where
and why reading stopped; the exit code is 1.

With --to=json it writes the value as JSON, in a form that is exact for every
type (integers beyond 2^53 and what JSON has no number for are strings, data is
hexadecimal, a union is an object with the member's name); --from=json reads
that form. Bytes that are made of JSON are those that generated code writes:
map entries sorted by key, padding zero.

With --count the input is a dump of a region with so many elements: one behind
the other where the type has a fixed size, else slots. More bytes may follow.`,
		Example: "  barewire-gen inspect telemetry.bare Reading reading.bin\n" +
			"  barewire-gen inspect --hex '01 01 41' --to=json telemetry.bare Reading\n" +
			"  barewire-gen inspect --from=json --to=bytes telemetry.bare Reading reading.json > reading.bin\n" +
			"  barewire-gen inspect --count=4 --element=2 kvcache.bare Block dump.bin",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.inspect(cmd, args, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.hex, "hex", "", "the input itself, as hexadecimal `digits`")
	fl.StringVar(&f.from, "from", "bytes", "what the input is: bytes, hex or json")
	fl.StringVar(&f.to, "to", "text", "what to write: text, json, bytes or hex")
	fl.IntVar(&f.count, "count", 0, "the input is a dump of a region with `n` elements")
	fl.IntVar(&f.element, "element", -1, "of a region show only the element with index `i`, from 0")
	fl.BoolVar(&f.all, "all", false, "show long lists and long data whole")
	f.spec.bind(cmd)
	return cmd
}

// check finds flags that cannot be meant together.
func (f *inspectFlags) check(cmd *cobra.Command, format report.Format) error {
	froms, tos := []string{"bytes", "hex", "json"}, []string{"text", "json", "bytes", "hex"}
	changed := cmd.Flags().Changed
	switch {
	case !slices.Contains(froms, f.from):
		return unknown("--from", f.from, froms, cmd)
	case !slices.Contains(tos, f.to):
		return unknown("--to", f.to, tos, cmd)
	case changed("hex") && changed("from"):
		return usagef(cmd, "--hex is the input, so there is no --from")
	case f.count < 0, changed("count") && f.count == 0:
		return usagef(cmd, "--count is at least 1")
	case changed("element") && f.count == 0:
		return usagef(cmd, "--element needs --count: only a region has elements")
	case changed("element") && (f.element < 0 || f.element >= f.count):
		return usagef(cmd, "--element is 0 to %d, since --count is %d", f.count-1, f.count)
	case f.count > 0 && f.from == "json":
		return usagef(cmd, "--from=json makes one message, and --count is for dumps of regions")
	case f.count > 0 && (f.to == "bytes" || f.to == "hex") && f.element < 0:
		return usagef(cmd, "--to=%s of a region needs --element", f.to)
	case format == report.JSON && changed("to"):
		return usagef(cmd, "--format=json writes annotated bytes as JSON, and --to something else; give one of them")
	}
	return nil
}

func (a *app) inspect(cmd *cobra.Command, args []string, f inspectFlags) error {
	if err := f.check(cmd, a.format); err != nil {
		return err
	}
	schemas, typ, input, err := a.inspectArgs(cmd, args, f)
	if err != nil {
		return err
	}
	files, err := a.load(cmd, schemas, false)
	if err != nil {
		return err
	}
	s, found := schema.Compile(files, schema.Options{Spec: int(f.spec)})
	if s == nil {
		return a.report(errorsOf(found))
	}
	if err := knownTypes(cmd, s, []string{typ}); err != nil {
		return err
	}
	decls := view.Decls(s)
	decls = slices.DeleteFunc(decls, func(d *resolve.Decl) bool { return d.Name != typ })
	if len(decls) > 1 {
		return usagef(cmd, "`%s` is declared in %d packages; name the files of one", typ, len(decls))
	}
	raw, err := a.inspectInput(input, f)
	if err != nil {
		return err
	}
	i := inspection{app: a, s: s, d: decls[0], f: f, input: input}
	if i.input == stdinArg {
		i.input = stdinName
	}
	return i.run(raw)
}

// inspectArgs parts the arguments: schemas, the type, the input.
func (a *app) inspectArgs(cmd *cobra.Command, args []string, f inspectFlags) (schemas []string, typ, input string, err error) {
	for len(args) > 0 && a.looksLikeSchema(args[0]) {
		schemas, args = append(schemas, args[0]), args[1:]
	}
	switch {
	case len(schemas) == 0:
		return nil, "", "", usagef(cmd, "no schema given: name its file, the type and the input, as in `%s telemetry.bare Reading reading.bin`", cmd.CommandPath())
	case len(args) == 0:
		return nil, "", "", usagef(cmd, "no type given: name it behind the schema")
	case cmd.Flags().Changed("hex") && len(args) == 1:
		return schemas, args[0], "--hex", nil
	case cmd.Flags().Changed("hex"):
		return nil, "", "", usagef(cmd, "--hex is the input, so `%s` cannot be it too", args[1])
	case len(args) == 1:
		return nil, "", "", usagef(cmd, "no input given: name a file, - for the standard input, or --hex")
	case len(args) > 2:
		return nil, "", "", usagef(cmd, "unexpected argument `%s`: one input is read at a time", args[2])
	}
	return schemas, args[0], args[1], nil
}

// looksLikeSchema reports whether an argument is a schema or a directory of them.
func (a *app) looksLikeSchema(arg string) bool {
	info, err := os.Stat(a.path(arg))
	return filepath.Ext(arg) == ".bare" || err == nil && info.IsDir()
}

// inspectInput reads the input: bytes, or JSON.
func (a *app) inspectInput(input string, f inspectFlags) ([]byte, error) {
	if input == "--hex" {
		return unhex(input, []byte(f.hex))
	}
	from := a.in
	if input != stdinArg {
		file, err := os.Open(a.path(input))
		if err != nil {
			return nil, plainError(err)
		}
		defer file.Close()
		from = file
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	switch {
	case err != nil:
		return nil, plainError(err)
	case len(raw) > maxInput:
		return nil, fmt.Errorf("%s: more than %d MiB", input, maxInput>>20)
	case f.from == "hex":
		return unhex(input, raw)
	}
	return raw, nil
}

// unhex reads hexadecimal digits, between which white space may stand, and 0x at the front.
func unhex(name string, text []byte) ([]byte, error) {
	text = bytes.Join(bytes.Fields(text), nil)
	if len(text) > 1 && text[0] == '0' && text[1]|0x20 == 'x' {
		text = text[2:]
	}
	raw := make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(raw, text); err != nil {
		if errors.Is(err, hex.ErrLength) {
			return nil, fmt.Errorf("%s: %d hexadecimal digits, and a byte has two", name, len(text))
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return raw, nil
}

// inspection is one run of inspect.
type inspection struct {
	*app
	s     *schema.Schema
	d     *resolve.Decl
	f     inspectFlags
	input string
}

func (i *inspection) run(raw []byte) error {
	if i.f.from == "json" {
		msg, err := dynamic.Encode(i.s.Layouts, i.d, raw)
		if err != nil {
			fmt.Fprintf(i.err, "%s:%v\n", i.input, err)
			return errFindings
		}
		raw = msg
	}
	elements := []element{{index: -1, msg: raw}}
	rest := 0
	if i.f.count > 0 {
		var err error
		if elements, rest, err = i.elements(raw); err != nil {
			return err
		}
	}
	return i.write(elements, rest)
}

// element is a message to show: the input, or an element of a region.
type element struct {
	index  int // in the region, -1 for a message by itself
	offset int // of the message in the input, in bytes
	msg    []byte
	err    error // of its slot
}

// elements finds the elements of a region's dump.
func (i *inspection) elements(raw []byte) (all []element, rest int, err error) {
	if err := dynamic.CheckStride(i.s.Layouts, i.d); err != nil {
		return nil, 0, err
	}
	stride := dynamic.Stride(i.s.Layouts, i.d)
	if have := uint64(len(raw)) / stride; have < uint64(i.f.count) {
		return nil, 0, fmt.Errorf("%s: %d bytes hold %d elements of `%s`, of %d bytes each, and --count is %d", i.input, len(raw), have, i.d.Name, stride, i.f.count)
	}
	for n := range i.f.count {
		if i.f.element >= 0 && n != i.f.element {
			continue
		}
		from := n * int(stride)
		msg, at, err := dynamic.Element(i.s.Layouts, i.d, raw[from:from+int(stride)])
		all = append(all, element{n, from + at, msg, err})
	}
	return all, len(raw) - i.f.count*int(stride), nil
}

// write writes the elements in the form that was asked for.
func (i *inspection) write(elements []element, rest int) error {
	switch {
	case i.format == report.JSON:
		return i.rowsJSON(elements, rest)
	case i.f.to == "text":
		return i.rowsText(elements, rest)
	case i.f.to == "json":
		return i.valuesJSON(elements)
	}
	e := elements[0]
	if e.err == nil {
		e.err = dynamic.Walk(i.s.Layouts, i.d, e.msg, nil)
	}
	if e.err != nil {
		return i.refused(e)
	}
	out := e.msg
	if i.f.to == "hex" {
		out = append(hex.AppendEncode(nil, e.msg), '\n')
	}
	_, err := i.out.Write(out)
	return err
}

// refused tells why a message is none.
func (i *inspection) refused(e element) error {
	where := ""
	if e.index >= 0 {
		where = fmt.Sprintf(" element %d, at byte %d:", e.index, e.offset)
	}
	fmt.Fprintf(i.err, "%s:%s %v\n", i.input, where, e.err)
	return errFindings
}

// valuesJSON writes values. A region's have their index, and a slot that nothing was
// put into has none.
func (i *inspection) valuesJSON(elements []element) error {
	if i.f.count == 0 {
		if err := dynamic.WriteJSON(i.out, i.s.Layouts, i.d, elements[0].msg); err != nil {
			if dynamic.KindName(err) == "" {
				return err
			}
			elements[0].err = err
			return i.refused(elements[0])
		}
		return nil
	}
	var failed error
	out := bufio.NewWriter(i.out)
	out.WriteString("[")
	for n, e := range elements {
		if n > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(out, "\n{\"element\": %d, \"offset\": %d, ", e.index, e.offset)
		var value bytes.Buffer
		if e.err == nil {
			e.err = dynamic.WriteJSON(&value, i.s.Layouts, i.d, e.msg)
		}
		switch {
		case errors.Is(e.err, wire.ErrSlotEmpty):
			out.WriteString(`"empty": true}`)
		case e.err != nil:
			text, _ := json.Marshal(e.err.Error())
			fmt.Fprintf(out, `"error": %s}`, text)
			failed = i.refused(e)
		default:
			fmt.Fprintf(out, "\"value\": %s}", bytes.TrimSpace(value.Bytes()))
		}
	}
	out.WriteString("\n]\n")
	return errors.Join(failed, out.Flush())
}

// inspected is what --format=json has of an element.
type inspected struct {
	Element *int           `json:"element,omitempty"`
	Offset  int            `json:"offset"`
	Size    int            `json:"size"` // of the message, in bytes
	Empty   bool           `json:"empty,omitempty"`
	Rows    []dynamic.Row  `json:"rows"`
	Error   *inspectedFail `json:"error,omitempty"`
}

// inspectedFail is why a message is none.
type inspectedFail struct {
	Kind    string `json:"kind"` // short, trailing, varint, …
	Path    string `json:"path,omitempty"`
	Offset  int    `json:"offset"` // in the input, in bytes
	Message string `json:"message"`
}

// rowsJSON writes annotated bytes as one document, all rows of it.
func (i *inspection) rowsJSON(elements []element, rest int) error {
	var failed error
	doc := struct {
		Version  int         `json:"version"`
		Type     string      `json:"type"`
		Elements []inspected `json:"elements"`
		Rest     int         `json:"rest"` // bytes behind the last element
	}{Version: report.DocumentVersion, Type: i.d.Name, Rest: rest}
	for _, e := range elements {
		x := inspected{Offset: e.offset, Size: len(e.msg), Rows: []dynamic.Row{}}
		if e.index >= 0 {
			x.Element = &e.index
		}
		if e.err == nil {
			e.err = dynamic.Walk(i.s.Layouts, i.d, e.msg, dynamic.NewRows(e.msg, i.d.Name, e.offset, 0, func(r dynamic.Row) {
				r.Hex = hex.EncodeToString(r.Bytes())
				x.Rows = append(x.Rows, r)
			}))
		}
		if x.Empty = errors.Is(e.err, wire.ErrSlotEmpty); e.err != nil && !x.Empty {
			x.Error = &inspectedFail{Kind: dynamic.KindName(e.err), Offset: e.offset, Message: e.err.Error()}
			var w *wire.Error
			if errors.As(e.err, &w) {
				x.Error.Path, x.Error.Offset = w.Path, e.offset+w.Offset
			}
			failed = errFindings
		}
		doc.Elements = append(doc.Elements, x)
	}
	if err := i.writeJSON(doc); err != nil {
		return err
	}
	return failed
}

// rowsText writes annotated bytes for people.
func (i *inspection) rowsText(elements []element, rest int) error {
	var failed error
	out := bufio.NewWriter(i.out)
	t := bytesTable{w: out, all: i.f.all}
	few := fewElements
	if i.f.all {
		few = 0
	}
	for n, e := range elements {
		if n > 0 {
			out.WriteByte('\n')
		}
		t.title(i.d.Name, e)
		if e.err == nil {
			e.err = dynamic.Walk(i.s.Layouts, i.d, e.msg, dynamic.NewRows(e.msg, i.d.Name, e.offset, few, t.row))
		}
		switch {
		case errors.Is(e.err, wire.ErrSlotEmpty):
			out.WriteString("  empty: nothing was put into this slot\n")
		case e.err != nil:
			t.stopped(e)
			failed = errFindings
		}
	}
	if rest > 0 {
		fmt.Fprintf(out, "\n%s behind the last element\n", bytesOf(rest))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if failed == nil {
		return nil
	}
	// Behind the rows, so that the two stand in order where both go to one terminal.
	for _, e := range elements {
		if e.err == nil {
			e.err = dynamic.Walk(i.s.Layouts, i.d, e.msg, nil)
		}
		if e.err != nil && !errors.Is(e.err, wire.ErrSlotEmpty) {
			_ = i.refused(e) // the same for all
		}
	}
	return failed
}

func bytesOf(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
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
