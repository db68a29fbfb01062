package wire

import (
	"encoding"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"
)

// DefaultLimit is the greatest size of a message from a Reader or to a Writer
// that were given no other: 64 MiB.
const DefaultLimit = 64 << 20

// Reader reads messages from a stream, with their length before them
// (ReadFrame, ReadMessage) or without (the DecodeStream method of generated types).
//
// It never takes a byte behind the message from the stream, and asks only for
// bytes that the message must have: give it a bufio.Reader where many small
// reads are dear. It owns one buffer, which grows with what has arrived, not with
// what a length claims: to at most twice that, and to the limit.
//
// io.EOF says that the stream ended before the first byte of a message; where
// it ends inside one the error is an Error of kind ErrShort that is also
// io.ErrUnexpectedEOF. After any other error than io.EOF the stream stands
// somewhere inside a message, and the Reader gives the same error for ever.
//
// A Reader is for one goroutine at a time.
type Reader struct {
	r     io.Reader
	limit int
	buf   []byte
	err   error
}

// NewReader returns a Reader of messages of at most limit bytes: 0 is
// DefaultLimit, less than 0 is no limit.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: r, limit: orDefault(limit)}
}

func orDefault(limit int) int {
	switch {
	case limit < 0:
		return math.MaxInt
	case limit == 0:
		return DefaultLimit
	}
	return limit
}

// fill reads into b, which lies in the Reader's buffer, until it is n bytes
// long, and returns what is there.
func (r *Reader) fill(b []byte, n int) ([]byte, error) {
	for len(b) < n {
		if len(b) == cap(b) {
			g := make([]byte, len(b), min(max(2*len(b), 512), max(r.limit, n)))
			copy(g, b)
			b = g
		}
		at := len(b)
		b = b[:min(n, cap(b))]
		got, err := io.ReadFull(r.r, b[at:])
		if err != nil {
			b = b[:at+got]
			r.buf = b
			return b, err
		}
	}
	r.buf = b
	return b, nil
}

// Next reads a message of type t, without a length before it, and returns its
// bytes, which are good until the next call. It is for generated code, which
// decodes them; only then is the message known to be without duplicate keys.
func (r *Reader) Next(t *Type) ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	n := t.parse()
	if n == nil {
		return nil, &Error{Kind: ErrInternal, Path: t.Name, Detail: t.Text}
	}
	s := scan{b: r.buf[:0], from: r, limit: uint64(r.limit)}
	end, e := s.value(n, 0)
	switch {
	case e == nil:
		return s.b[:end], nil
	case len(s.b) == 0 && errors.Is(s.err, io.EOF):
		return nil, io.EOF
	}
	r.err = e.In(t.Name)
	return nil, r.err
}

// ReadFrame reads a frame, a length as a u32 and so many bytes, and returns the bytes,
// which are good until the next call. The limit holds for them without the length.
func (r *Reader) ReadFrame() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	b, err := r.fill(r.buf[:0], 4)
	if err != nil {
		return nil, r.broken(b, err, "length")
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(r.limit) {
		r.err = &Error{Kind: ErrLimit, Path: "frame", Offset: 0,
			Detail: strconv.FormatUint(uint64(n), 10) + " bytes, at most " + strconv.Itoa(r.limit)}
		return nil, r.err
	}
	got, err := r.fill(r.buf[:0], int(n))
	if err != nil {
		if err == io.EOF { // the length was there
			err = io.ErrUnexpectedEOF
		}
		return nil, r.broken(got, err, "body")
	}
	return got, nil
}

// broken keeps the error of a frame that did not arrive.
func (r *Reader) broken(b []byte, err error, part string) error {
	switch {
	case err == io.EOF:
		return io.EOF
	case err == io.ErrUnexpectedEOF:
		r.err = &Error{Kind: ErrShort, Path: "frame." + part, Offset: len(b), Cause: err}
	default:
		r.err = &Error{Kind: ErrRead, Path: "frame." + part, Offset: len(b), Cause: err}
	}
	return r.err
}

// ReadMessage reads a frame and decodes it into m.
func (r *Reader) ReadMessage(m encoding.BinaryUnmarshaler) error {
	b, err := r.ReadFrame()
	if err != nil {
		return err
	}
	return m.UnmarshalBinary(b)
}

// Writer writes messages to a stream, each in one call of Write. It keeps one
// buffer for all. A Writer is for one goroutine at a time.
type Writer struct {
	w     io.Writer
	limit int
	buf   []byte
}

// NewWriter returns a Writer of messages of at most limit bytes: 0 is
// DefaultLimit, less than 0 is no limit but that of a frame, 4 GiB.
func NewWriter(w io.Writer, limit int) *Writer {
	return &Writer{w: w, limit: orDefault(limit)}
}

// WriteMessage writes m with its length before it, as ReadMessage reads it.
// Where encoding fails, or the limit is passed, nothing is written.
func (w *Writer) WriteMessage(m encoding.BinaryAppender) error {
	b, err := AppendFrame(w.buf[:0], m, w.limit)
	if err != nil {
		return err
	}
	w.buf = b
	_, err = w.w.Write(b)
	return err
}

// WriteStream writes m without a length, as DecodeStream reads it.
func (w *Writer) WriteStream(m encoding.BinaryAppender) error {
	b, err := m.AppendBinary(w.buf[:0])
	if err != nil {
		return err
	}
	w.buf = b
	if len(b) > w.limit {
		return overLimit(uint64(len(b)), w.limit)
	}
	_, err = w.w.Write(b)
	return err
}

func overLimit(n uint64, limit int) error {
	return &Error{Kind: ErrLimit, Offset: -1,
		Detail: strconv.FormatUint(n, 10) + " bytes, at most " + strconv.Itoa(limit)}
}

// AppendFrame appends a frame with m in it: its length as a u32, then m. The limit is as for NewWriter.
// On an error it returns b as it was.
func AppendFrame(b []byte, m encoding.BinaryAppender, limit int) ([]byte, error) {
	at := len(b)
	out, err := m.AppendBinary(append(b, 0, 0, 0, 0))
	if err != nil {
		return b, err
	}
	n := uint64(len(out) - at - 4)
	if n > uint64(orDefault(limit)) || n > math.MaxUint32 {
		return b, overLimit(n, int(min(uint64(orDefault(limit)), math.MaxUint32, math.MaxInt)))
	}
	binary.LittleEndian.PutUint32(out[at:], uint32(n))
	return out, nil
}

// CutFrame returns what is in the frame at the front of b, and what follows it.
// Where b ends inside the frame the error is ErrShort.
func CutFrame(b []byte) (msg, rest []byte, err error) {
	if len(b) < 4 {
		return nil, b, &Error{Kind: ErrShort, Path: "frame.length", Offset: 0}
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, b, &Error{Kind: ErrShort, Path: "frame.body", Offset: 4}
	}
	end := 4 + int(n)
	return b[4:end:end], b[end:], nil
}
