package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// order and customer are described as generated code does it.
var (
	order = Type{Name: "Order", Text: "struct{id:i64 tags:list<str>@4 kind:enum{0-2 200}}"}

	customer = Type{
		Name: "Customer",
		Text: "struct{name:str@40 live:bool address:data[4] orders:list<$0> meta:map<str><data> note:optional<str>" +
			" pick:union{0=u8|1=$0|300=void} level:enum:2{1-3} grid:list<u16>[3]}",
		Refs: []*Type{&order},
	}
)

// sample is a Customer, field by field.
var sample = []struct{ field, hex string }{
	{"name", "03426f62"},
	{"live", "01"},
	{"address", "01020304"},
	{"orders", "02" + "0100000000000000" + "010161" + "02" + "0200000000000000" + "02" + "016200" + "c801"},
	{"meta", "02" + "016b" + "0176" + "016c" + "00"},
	{"note", "01" + "0368c3a9"},
	{"pick", "01" + "0300000000000000" + "00" + "01"},
	{"level", "0300"},
	{"grid", "010002000300"},
}

func message(t testing.TB) []byte {
	t.Helper()
	var b []byte
	for _, s := range sample {
		b = append(b, unhex(t, s.hex)...)
	}
	return b
}

func TestScanAccepts(t *testing.T) {
	m := message(t)
	err := customer.Explain(m, Options{}, true)
	if !errors.Is(err, ErrInternal) { // nothing is wrong with it
		t.Fatal(err)
	}
	if err := customer.Explain(append(m, 0), Options{}, true); !errors.Is(err, ErrTrailing) {
		t.Error(err)
	}
}

// A message cut anywhere is an error with the field that is cut, from a slice
// and from a stream, which ends with io.ErrUnexpectedEOF.
func TestScanTruncated(t *testing.T) {
	m := message(t)
	end := 0
	i := -1
	for cut := range m {
		for i < 0 || cut >= end {
			i++
			end += len(sample[i].hex) / 2
		}
		want := "Customer." + sample[i].field
		for _, stream := range []bool{false, true} {
			err := customer.Explain(m[:cut], Options{}, true)
			if stream {
				r := NewReader(iotest.OneByteReader(bytes.NewReader(m[:cut])), 0)
				_, err = r.Next(&customer)
				if cut == 0 {
					if err != io.EOF {
						t.Errorf("nothing: %v", err)
					}
					continue
				}
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("cut at %d: %v is no io.ErrUnexpectedEOF", cut, err)
				}
			}
			var e *Error
			if !errors.As(err, &e) || e.Kind != ErrShort && e.Kind != ErrLength {
				t.Fatalf("cut at %d, stream %v: %v", cut, stream, err)
			}
			if rest, ok := strings.CutPrefix(e.Path, want); !ok || rest != "" && rest[0] != '.' && rest[0] != '[' {
				t.Errorf("cut at %d, stream %v: path %s, want %s", cut, stream, e.Path, want)
			}
			if e.Offset < 0 || e.Offset > cut {
				t.Errorf("cut at %d, stream %v: offset %d", cut, stream, e.Offset)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		text, hex, want string
		kind            error
	}{
		{"struct{a:u8 b:bool}", "0102", "bare: T.b at byte 1: invalid bool: 2", ErrBool},
		{"struct{a:optional<u8>}", "02", "bare: T.a at byte 0: invalid optional: 2", ErrOptional},
		{"struct{a:str}", "02c328", "bare: T.a at byte 1: invalid UTF-8", ErrUTF8},
		{"struct{a:list<struct{n:str}>}", "020161" + "01ff", "bare: T.a[1].n at byte 4: invalid UTF-8", ErrUTF8},
		{"uint", "8000", "bare: T at byte 0: invalid varint: not minimal, or over 64 bits", ErrVarint},
		{"enum{0-3 7}", "05", "bare: T at byte 0: value is not in the enum: 5", ErrEnum},
		{"enum:2{0-300}", "2d01", "bare: T at byte 0: value is not in the enum: 301", ErrEnum},
		{"union{0=u8|1=str}", "02", "bare: T at byte 0: tag is not in the union: 2", ErrTag},
		{"union{0=u8|1=str}", "0101ff", "bare: T.str at byte 2: invalid UTF-8", ErrUTF8},
		{"map<u8><u8>", "0201010102", "bare: T[1].key at byte 3: duplicate map key", ErrDuplicateKey},
		{"map<u8><bool>", "010107", "bare: T[0].value at byte 2: invalid bool: 7", ErrBool},
		{"str@2", "03616263", "bare: T at byte 0: over #@max: 3, at most 2", ErrMax},
		{"list<u8>@2", "03616263", "bare: T at byte 0: over #@max: 3, at most 2", ErrMax},
		{"map<u8><u8>@0", "03616263", "bare: T at byte 0: length exceeds the input: 3 elements of at least 2 bytes, 3 left", ErrLength},
		{"data", "0561", "bare: T at byte 0: input ends early: needs 5 bytes, 1 left", ErrShort},
		{"list<u32>[3]", "0100000002000000", "bare: T[2] at byte 8: input ends early: needs 4 bytes, 0 left", ErrShort},
		{"list<list<u8>>", "03" + "030000", "bare: T[0] at byte 1: length exceeds the input: 3 elements of at least 1 byte, 0 left", ErrLength},
		{"u16", "010203", "bare: T at byte 2: bytes left over after the message: 1 byte", ErrTrailing},
	} {
		typ := Type{Name: "T", Text: c.text}
		err := typ.Explain(unhex(t, c.hex), Options{}, true)
		if err.Error() != c.want || !errors.Is(err, c.kind) {
			t.Errorf("%s, %s:\n got %v\nwant %s", c.text, c.hex, err, c.want)
		}
	}
}

// A text that is no description is our fault, and says so.
func TestBadDescription(t *testing.T) {
	for _, text := range []string{
		"", "u9", "struct{", "struct{a}", "list<u8", "map<u8>", "enum{}", "enum{x}", "union{0u8}", "$0", "u8 ", "data[x]", "optional", "struct{a:u8,b:u8}",
	} {
		typ := Type{Name: "T", Text: text}
		if err := typ.Explain([]byte{0}, Options{}, true); !errors.Is(err, ErrInternal) {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := NewReader(strings.NewReader("x"), 0).Next(&typ); !errors.Is(err, ErrInternal) {
			t.Errorf("%q from a stream: %v", text, err)
		}
	}
}

func TestMaxBytes(t *testing.T) {
	typ := Type{Name: "T", Text: "struct{a:u32 b:str}"}
	err := typ.Explain(unhex(t, "010000000461626364"), Options{MaxBytes: 6}, false)
	if !errors.Is(err, ErrLimit) || err.Error() != "bare: T.b at byte 4: over the size limit: 6 bytes" {
		t.Error(err)
	}
}
