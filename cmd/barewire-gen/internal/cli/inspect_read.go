package cli

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/dynamic"
)

// maxInput is how much inspect holds at once, in bytes: a message, an element of a region, a text of JSON or of hexadecimal
// digits, and what may lie behind a region in a pipe.
const maxInput = 1 << 30

// input is what inspect reads.
type input struct {
	io.Reader
	size  int64 // in bytes; -1 where that shows only at the end
	close func()
}

func inputOf(b []byte) *input { return &input{bytes.NewReader(b), int64(len(b)), func() {}} }

// openInput opens the input. Of hexadecimal digits it is the bytes; JSON stays text.
func (a *app) openInput(name string, f inspectFlags) (*input, error) {
	if name == "--hex" {
		raw, err := unhex(name, []byte(f.hex))
		return inputOf(raw), err
	}
	in := &input{a.in, -1, func() {}}
	if name != stdinArg {
		file, err := os.Open(a.path(name))
		if err != nil {
			return nil, plainError(err)
		}
		in.Reader, in.close = file, func() { _ = file.Close() } // it was only read
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			in.size = info.Size()
		}
	}
	if f.from != "hex" {
		return in, nil
	}
	defer in.close()
	text, err := in.all(name)
	if err != nil {
		return nil, err
	}
	raw, err := unhex(name, text)
	return inputOf(raw), err
}

// all reads an input that is held as a whole.
func (in *input) all(name string) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return nil, plainError(err)
	}
	if len(raw) > maxInput {
		return nil, fmt.Errorf("%s: more than %d MiB", name, maxInput>>20)
	}
	return raw, nil
}

// skip passes over n bytes, and returns how many there were.
func (in *input) skip(n int64) (int64, error) {
	if s, ok := in.Reader.(io.Seeker); ok && in.size >= 0 {
		_, err := s.Seek(n, io.SeekCurrent) // the size says that they are there
		return n, err
	}
	there, err := io.CopyN(io.Discard, in, n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return there, err
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
			return nil, fmt.Errorf("%s: %s, and a byte has two", name, countOf(len(text), "hexadecimal digit"))
		}
		var digit hex.InvalidByteError
		if errors.As(err, &digit) {
			return nil, fmt.Errorf("%s: %q is no hexadecimal digit", name, rune(digit))
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return raw, nil
}

// element is a message to show: the input, or an element of a region.
type element struct {
	index  int // in the region, -1 for a message by itself
	offset int // of the message in the input, in bytes
	msg    []byte
	err    error // of its slot
}

// elements visits the elements of a region's dump, those that are asked for, and returns how many bytes lie behind the
// last one of all. It holds one element at a time, whose memory the next one takes.
func (i *inspection) elements(in *input, visit func(element) error) (rest int64, err error) {
	stride, err := i.stride()
	if err != nil {
		return 0, err
	}
	count := int64(i.f.count)
	if in.size >= 0 && in.size/stride < count {
		return 0, i.tooFew(in.size, stride)
	}
	from, to := int64(0), count
	if i.f.element >= 0 {
		from, to = int64(i.f.element), int64(i.f.element)+1
	}
	at, err := in.skip(from * stride)
	if err != nil {
		return 0, plainError(err)
	}
	if at < from*stride {
		return 0, i.tooFew(at, stride)
	}
	memory := make([]byte, stride)
	for n := from; n < to; n++ {
		got, err := io.ReadFull(in, memory)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, i.tooFew(at+int64(got), stride)
		}
		if err != nil {
			return 0, plainError(err)
		}
		msg, head, err := dynamic.Element(i.s.Layouts, i.d, memory)
		if err := visit(element{int(n), int(at) + head, msg, err}); err != nil {
			return 0, err
		}
		at += stride
	}
	return i.behind(in, at, stride)
}

// behind passes over the elements from byte at on that were not asked for, and counts what lies behind the last one.
func (i *inspection) behind(in *input, at, stride int64) (rest int64, err error) {
	end := int64(i.f.count) * stride
	if in.size >= 0 {
		return in.size - end, nil
	}
	n, err := in.skip(end - at)
	if err != nil {
		return 0, plainError(err)
	}
	if at+n < end {
		return 0, i.tooFew(at+n, stride)
	}
	rest, err = io.Copy(io.Discard, io.LimitReader(in, maxInput+1))
	if err != nil {
		return 0, plainError(err)
	}
	if rest > maxInput {
		return 0, fmt.Errorf("%s: more than %d MiB behind the last element", i.input, maxInput>>20)
	}
	return rest, nil
}

// stride is how many bytes an element of the region takes. All of them can be counted in an int.
func (i *inspection) stride() (int64, error) {
	if err := dynamic.CheckStride(i.s.Layouts, i.d); err != nil {
		return 0, err
	}
	stride := dynamic.Stride(i.s.Layouts, i.d)
	if stride > maxInput {
		return 0, fmt.Errorf("an element of `%s` has %d bytes, and at most %d MiB are held at once", i.d.Name, stride, maxInput>>20)
	}
	if uint64(i.f.count) > math.MaxInt/stride {
		return 0, fmt.Errorf("--count=%d elements of %d bytes each are more than can be counted", i.f.count, stride)
	}
	return int64(stride), nil
}

func (i *inspection) tooFew(have, stride int64) error {
	return fmt.Errorf("%s: %d bytes hold %d elements of `%s`, of %d bytes each, and --count is %d", i.input, have, have/stride, i.d.Name, stride, i.f.count)
}
