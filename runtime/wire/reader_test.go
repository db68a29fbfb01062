package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// strict refuses to give a byte that is not asked for by a message, and counts.
type strict struct {
	r     io.Reader
	reads int
}

func (s *strict) Read(b []byte) (int, error) {
	s.reads++
	return s.r.Read(b)
}

// Messages stand one behind the other; each Next takes its own and no byte more.
func TestNextNeverReadsPast(t *testing.T) {
	m := message(t)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "half": iotest.HalfReader,
		"data with EOF": iotest.DataErrReader,
	} {
		src := bytes.NewReader(bytes.Repeat(m, 3))
		r := NewReader(wrap(src), 0)
		for i := range 3 {
			got, err := r.Next(&customer)
			if err != nil || !bytes.Equal(got, m) {
				t.Fatalf("%s: message %d: %x, %v", name, i, got, err)
			}
			if name == "whole" && src.Len() != (2-i)*len(m) {
				t.Fatalf("%s: %d bytes are left after message %d", name, src.Len(), i)
			}
		}
		if _, err := r.Next(&customer); err != io.EOF {
			t.Errorf("%s: at the end: %v", name, err)
		}
	}
}

// A run of bytes that a message must have is one read.
func TestNextReadsRuns(t *testing.T) {
	typ := Type{Name: "T", Text: "struct{a:u32 b:u64 c:list<struct{x:u16 y:u8 z:bool}>}"}
	m := append(make([]byte, 12), 100)
	m = append(m, make([]byte, 400)...)
	s := &strict{r: bytes.NewReader(m)}
	if _, err := NewReader(s, 0).Next(&typ); err != nil {
		t.Fatal(err)
	}
	if s.reads > 3 {
		t.Errorf("%d reads", s.reads)
	}
}

func TestNextErrors(t *testing.T) {
	boom := errors.New("boom")
	r := NewReader(io.MultiReader(bytes.NewReader([]byte{3, 'a'}), iotest.ErrReader(boom)), 0)
	_, err := r.Next(&customer)
	if !errors.Is(err, ErrRead) || !errors.Is(err, boom) || !strings.HasPrefix(err.Error(), "bare: Customer.name at byte 1: reading failed: boom") {
		t.Error(err)
	}
	if _, again := r.Next(&customer); again != err {
		t.Errorf("a broken reader goes on: %v", again)
	}

	typ := Type{Name: "T", Text: "list<data>"}
	big := append(AppendUint([]byte{1}, 1000), make([]byte, 1000)...)
	if _, err := NewReader(bytes.NewReader(big), 1003).Next(&typ); err != nil {
		t.Errorf("exactly at the limit: %v", err)
	}
	for _, limit := range []int{1, 2, 1002} {
		if _, err := NewReader(bytes.NewReader(big), limit).Next(&typ); !errors.Is(err, ErrLimit) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// What a length claims takes no memory before it has arrived.
func TestNextMemory(t *testing.T) {
	for _, claim := range []string{"data", "list<u8>", "list<struct{a:data[1000]}>", "list<list<u8>>"} {
		typ := Type{Name: "T", Text: claim}
		n := claimed(t, func() {
			in := append(AppendUint(nil, 60_000), 1, 2, 3)
			if _, err := NewReader(bytes.NewReader(in), -1).Next(&typ); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %v", claim, err)
			}
		})
		if n > 16<<10 {
			t.Errorf("%s: %d bytes for 6", claim, n)
		}
	}
}

// claimed is how much memory f allocates.
func claimed(t *testing.T, f func()) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// text is a message that is not of a schema.
type text string

func (x text) AppendBinary(b []byte) ([]byte, error) {
	if x == "bad" {
		return b, BadUTF8().In("text")
	}
	return append(b, x...), nil
}

func (x *text) UnmarshalBinary(b []byte) error {
	*x = text(b)
	return nil
}

func TestFrames(t *testing.T) {
	var buf bytes.Buffer
	w := NewWriter(&buf, 10)
	for _, s := range []text{"one", "", "three"} {
		if err := w.WriteMessage(s); err != nil {
			t.Fatal(err)
		}
	}
	if want := "\x03\x00\x00\x00one\x00\x00\x00\x00\x05\x00\x00\x00three"; buf.String() != want {
		t.Fatalf("%q", buf.String())
	}
	if err := w.WriteMessage(text("bad")); !errors.Is(err, ErrUTF8) {
		t.Error(err)
	}
	if err := w.WriteMessage(text("more than ten")); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
	if err := w.WriteStream(text("more than ten")); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
	all := buf.Bytes()

	r := NewReader(iotest.OneByteReader(bytes.NewReader(all)), 5)
	for _, want := range []text{"one", "", "three"} {
		var got text
		if err := r.ReadMessage(&got); err != nil || got != want {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if _, err := r.ReadFrame(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	msg, rest, err := CutFrame(all)
	if err != nil || string(msg) != "one" || len(rest) != len(all)-7 {
		t.Errorf("CutFrame: %q, %d left, %v", msg, len(rest), err)
	}
	for cut := 1; cut < 7; cut++ {
		_, err := NewReader(bytes.NewReader(all[:cut]), 0).ReadFrame()
		if !errors.Is(err, ErrShort) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("frame cut at %d: %v", cut, err)
		}
		if _, rest, err := CutFrame(all[:cut]); !errors.Is(err, ErrShort) || len(rest) != cut {
			t.Errorf("CutFrame cut at %d: %v", cut, err)
		}
	}
}

func TestFrameLimit(t *testing.T) {
	head := binary.LittleEndian.AppendUint32(nil, 0xffffffff)
	n := claimed(t, func() {
		if _, err := NewReader(bytes.NewReader(head), 0).ReadFrame(); !errors.Is(err, ErrLimit) {
			t.Error(err)
		}
		head = binary.LittleEndian.AppendUint32(nil, 60<<20)
		if _, err := NewReader(bytes.NewReader(head), 0).ReadFrame(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
	if n > 16<<10 {
		t.Errorf("a length alone took %d bytes", n)
	}
}

// Reading message after message takes no memory once the buffer has grown.
func TestReaderReuses(t *testing.T) {
	frame, err := AppendFrame(nil, text(strings.Repeat("x", 3000)), 0)
	if err != nil {
		t.Fatal(err)
	}
	src := bytes.NewReader(frame)
	r := NewReader(src, 0)
	n := testing.AllocsPerRun(100, func() {
		src.Reset(frame)
		if _, err := r.ReadFrame(); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestReaderGrowsByDoubling reads a long message a byte at a time: the buffer
// must not be made anew for each.
func TestReaderGrowsByDoubling(t *testing.T) {
	const size = 1 << 16
	r := NewReader(bytes.NewReader(make([]byte, size)), 0)
	made, last := 0, 0
	var b []byte
	for n := 1; n <= size; n++ {
		var err error
		if b, err = r.fill(b, n); err != nil {
			t.Fatal(err)
		}
		if cap(b) != last {
			made, last = made+1, cap(b)
		}
	}
	if made > 20 {
		t.Errorf("%d buffers for %d bytes", made, size)
	}
}
