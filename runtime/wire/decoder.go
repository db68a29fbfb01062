package wire

// Mode says whose memory decoded values use. A value that was decoded with
// Alias or AliasReuse must not be decoded into again with Reuse, which would write to the
// first message's bytes.
type Mode uint8

const (
	// Fresh takes new memory for strings, data, lists, maps and what pointers
	// point to: the destination's earlier content is not written to, and
	// the input may be changed afterwards. Small strings of one message
	// share blocks of at most 1 KiB, which one of them keeps from being collected.
	Fresh Mode = iota
	// Reuse takes the destination's memory where it suffices: the capacity
	// of slices, maps (which are cleared first), pointers, and strings that did
	// not change. What was taken from the destination before changes with it.
	Reuse
	// Alias lets strings, data and list<u8> be the input's own memory: they change when
	// it does, and keep all of it from being collected. All else is as Fresh.
	Alias
	// AliasReuse is Alias for strings, data and list<u8>, whose memory before
	// is let go and not written to, and Reuse for other lists, maps and
	// pointers: decoding one message after another takes no memory.
	AliasReuse
)

// aliases and reuses are what a mode does with bytes, and with all else.
func (m Mode) aliases() bool { return m&Alias != 0 }
func (m Mode) reuses() bool  { return m&Reuse != 0 }

// Options are what DecodeBinary takes. The zero value is Fresh without a limit.
type Options struct {
	Mode Mode
	// MaxBytes is the greatest size of a message in bytes; 0 for no limit
	// but the input's length. A longer message is ErrLimit.
	MaxBytes int
}

// Decoder is the state of decoding one message. It is for generated code.
type Decoder struct {
	Buf  []byte // the message, and what follows it
	Mode Mode
	Held int // bytes that lists have claimed for elements that are not decoded yet

	// block is where small strings go in Fresh and Reuse mode: an
	// allocation each would take most of the time that decoding takes.
	block []byte
	taken int // size of the block
}

// Blocks double from the first to the greatest size, so that a message with
// few strings takes little.
const (
	firstBlock = 32
	lastBlock  = 1024
	smallStr   = lastBlock / 8
)

// Begin returns the decoder of the message at the front of b.
func Begin(b []byte, o Options) Decoder {
	if o.MaxBytes > 0 && o.MaxBytes < len(b) {
		b = b[:o.MaxBytes]
	}
	return Decoder{Buf: b[:len(b):len(b)], Mode: o.Mode}
}

// Short is the common case of Str, small enough to be inlined: a string of 8
// to 16 ASCII characters in Alias mode. False means that Str is needed.
func (d *Decoder) Short(to *string, s []byte) bool {
	if !d.Mode.aliases() || !ascii(s) {
		return false
	}
	*to = bytesString(s)
	return true
}

// Str sets a string to s, a part of Buf, and reports whether it is UTF-8.
func (d *Decoder) Str(to *string, s []byte) bool {
	if !ascii(s) && !validUTF8(s) {
		return false
	}
	switch {
	case d.Mode.aliases():
		*to = bytesString(s)
	case d.Mode == Fresh || *to != bytesString(s):
		*to = d.copyStr(s)
	}
	return true
}

// Key returns s, a part of Buf, as the string that a data is as a map's key.
func (d *Decoder) Key(s []byte) string {
	if d.Mode.aliases() {
		return bytesString(s)
	}
	return d.copyStr(s)
}

func (d *Decoder) copyStr(b []byte) string {
	n := len(b)
	if n > len(d.block) {
		if n > smallStr {
			return string(b)
		}
		d.newBlock(b)
	}
	s := d.block[:n]
	d.block = d.block[n:]
	copy(s, b)
	return bytesString(s)
}

// newBlock makes a block of at most the bytes that are left from b on: there
// can be no more strings than that.
func (d *Decoder) newBlock(b []byte) {
	d.taken = min(max(firstBlock, 2*d.taken), lastBlock)
	d.block = make([]byte, min(max(d.taken, len(b)), cap(b)))
}

// Data returns b, a part of Buf, as the destination's, whose memory before is old.
// Nil stays nil where there is nothing.
func (d *Decoder) Data(old, b []byte) []byte {
	switch {
	case d.Mode == Reuse && old != nil:
		return append(old[:0], b...)
	case len(b) == 0:
		return nil
	case d.Mode.aliases():
		return b[:len(b):len(b)]
	}
	return append([]byte(nil), b...)
}

// Count reads the count at p of elements of at least least bytes each, and
// returns it and its end. The end is -1 where it is no count, or so many
// elements cannot be in what is left and not held by lists around this one.
func (d *Decoder) Count(p, least int) (n, end int) {
	x, end := Uint(d.Buf, p)
	if end < 0 || x > uint64(max(0, len(d.Buf)-end-d.Held))/uint64(least) {
		return 0, -1
	}
	return int(x), end
}

// Slice returns a slice of n elements for the destination, whose memory before
// is old. Nil stays nil where there is nothing. Elements taken over by Reuse keep
// what they held, for their own memory to be reused.
func Slice[S ~[]T, T any](d *Decoder, old S, n int) S {
	if d.Mode.reuses() && n <= cap(old) {
		return old[:n]
	}
	if n == 0 {
		return nil
	}
	return make(S, n)
}

// Map returns an empty map for n entries, whose memory before is old. Nil stays nil
// where there is nothing.
func Map[M ~map[K]V, K comparable, V any](d *Decoder, old M, n int) M {
	if d.Mode.reuses() && old != nil {
		clear(old)
		return old
	}
	if n == 0 {
		return nil
	}
	// Not all of a claim at once: an entry takes many times its bytes on the
	// wire, and keys must differ, which a message pays for with bytes.
	return make(M, min(n, 1024))
}

// New returns a value for a pointer in the destination that was old before.
func New[T any](d *Decoder, old *T) *T {
	if d.Mode.reuses() && old != nil {
		return old
	}
	return new(T)
}
