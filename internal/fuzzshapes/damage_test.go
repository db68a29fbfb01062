package fuzzshapes

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// finding is what is wrong with a message, and where.
type finding struct {
	kind   error
	path   string
	offset int
}

// check holds an error against the finding.
func (f finding) check(t *testing.T, way string, err error) {
	t.Helper()
	var got *wire.Error
	if !errors.As(err, &got) || !errors.Is(err, f.kind) || got.Path != f.path || got.Offset != f.offset {
		t.Errorf("%s says %v, want %s at byte %d: %v", way, err, f.path, f.offset, f.kind)
	}
}

// stream decodes from a stream of a byte at a time.
func stream(m runner.Message, b []byte) error {
	return m.DecodeStream(wire.NewReader(iotest.OneByteReader(bytes.NewReader(b)), 1<<20))
}

// TestDamage changes bytes of messages. Where slice and stream differ the stream
// has its own finding: it cannot refuse a length that may yet arrive.
func TestDamage(t *testing.T) {
	oneKey := &Maps{OK: map[bool]string{true: "t"}}
	colors := &Maps{Color: map[Color]bool{ColorRed: true}}
	grades := &Maps{Grade: map[Grade]map[string]uint8{GradeFail: {"x": 1}}}
	nested := &Lists{Nested: [][][]uint16{{}, {{}, {1, 2}}}}
	choice := &Lists{Choice: []ListsChoiceItem{{&ListsChoiceItemStr{"s"}}}}
	deep := &Opts{Inner: &OptsInner{Deep: some(some("d"))}}
	anyList := &Any{&AnyListInner{[]Inner{{ref(ColorGreen)}}}}
	anyMap := &Any{&AnyMapStrInner{map[string]Inner{"k": {&InnerStr{"s"}}}}}
	for _, c := range []struct {
		what   string
		of     runner.Message
		at     int
		put    string
		slice  finding
		stream *finding
	}{
		{"bool in a nested struct", anOrder(), 8, "\x02", finding{wire.ErrBool, "Order.buyer.vip", 8}, nil},
		{"str in a nested struct", anOrder(), 6, "\xff", finding{wire.ErrUTF8, "Order.buyer.name", 5}, nil},
		{"str that is longer than the message", anOrder(), 4, "\x7f", finding{wire.ErrShort, "Order.buyer.name", 4},
			&finding{wire.ErrShort, "Order.buyer.name", 5}},
		{"count that is not minimal", anOrder(), 9, "\x82\x00", finding{wire.ErrVarint, "Order.lines", 9}, nil},
		{"count that is too large", anOrder(), 9, "\x7f", finding{wire.ErrLength, "Order.lines", 9},
			&finding{wire.ErrOptional, "Order.lines[3].note", 34}},
		{"optional in an element", anOrder(), 14, "\x02", finding{wire.ErrOptional, "Order.lines[0].note", 14}, nil},
		{"str of an optional", anOrder(), 24, "\x80", finding{wire.ErrUTF8, "Order.lines[1].note", 21}, nil},
		{"key twice", anOrder(), 34, "ab", finding{wire.ErrDuplicateKey, "Order.prices[1].key", 33}, nil},
		{"key", anOrder(), 27, "\xc0", finding{wire.ErrUTF8, "Order.prices[0].key", 27}, nil},
		{"tag", anOrder(), 40, "\x09", finding{wire.ErrTag, "Order.pay", 40}, nil},
		{"enum in a union's struct", &Order{Pay: OrderPay{&Card{}}}, 10, "\x04", finding{wire.ErrEnum, "Order.pay.Card.color", 10}, nil},
		{"key that is a bool", oneKey, 7, "\x02", finding{wire.ErrBool, "Maps.ok[0].key", 7}, nil},
		{"key that is an enum", colors, 11, "\x04", finding{wire.ErrEnum, "Maps.color[0].key", 11}, nil},
		{"value that is a bool", colors, 12, "\x02", finding{wire.ErrBool, "Maps.color[0].value", 12}, nil},
		{"key of two bytes", grades, 12, "\x01\x00", finding{wire.ErrEnum, "Maps.grade[0].key", 12}, nil},
		{"key of a map in a map", grades, 16, "\xff", finding{wire.ErrUTF8, "Maps.grade[0].value[0].key", 16}, nil},
		{"optional of an optional", deep, 8, "\x02", finding{wire.ErrOptional, "Opts.inner.deep", 8}, nil},
		{"list in lists", nested, 17, "\x7f", finding{wire.ErrLength, "Lists.nested[1][1]", 17},
			&finding{wire.ErrShort, "Lists.nested[1][1][5]", 28}},
		{"member of a union in a list", choice, 19, "\xff", finding{wire.ErrUTF8, "Lists.choice[0].str", 19}, nil},
		{"tag in a list", choice, 17, "\x02", finding{wire.ErrTag, "Lists.choice[0]", 17}, nil},
		{"enum in a union in a list in a union", anyList, 4, "\x06", finding{wire.ErrEnum, "Any.list[0].Color", 4}, nil},
		{"str in a union in a map in a union", anyMap, 7, "\xff", finding{wire.ErrUTF8, "Any.map[0].value.str", 7}, nil},
		{"bool of a fixed struct", &Flags{}, 0, "\x02", finding{wire.ErrBool, "Flags.on", 0}, nil},
		{"enum of a fixed struct", &Flags{}, 3, "\x01", finding{wire.ErrEnum, "Flags.color", 3}, nil},
		{"element of a fixed list", &Flags{}, 6, "\x02", finding{wire.ErrBool, "Flags.marks[1]", 6}, nil},
		{"element of fixed lists", &Fixeds{}, 16, "\x02", finding{wire.ErrBool, "Fixeds.grid[1][0]", 16}, nil},
		{"bool of a fixed struct in a list", &Lists{Flags: make([]Flags, 1)}, 19, "\x02", finding{wire.ErrBool, "Lists.flags[0].on", 19}, nil},
		{"element of a fixed list in a list", &Lists{Flags: make([]Flags, 1)}, 25, "\x02", finding{wire.ErrBool, "Lists.flags[0].marks[1]", 25}, nil},
		{"tag of a fixed union in a list", &Lists{Shapes: []Shape{{&ShapeF32{}}}}, 20, "\x03", finding{wire.ErrTag, "Lists.shapes[0]", 20}, nil},
		{"tag of a fixed union", &Shape{&ShapeU32{1}}, 0, "\x03", finding{wire.ErrTag, "Shape", 0}, nil},
		{"str over its maximum", &Bounded{Name: "abc"}, 0, "\x0d", finding{wire.ErrMax, "Bounded.name", 0}, nil},
		{"list over its maximum", &Bounded{Name: "abc"}, 4, "\x04", finding{wire.ErrMax, "Bounded.nums", 4}, nil},
		{"uint", &Prims{}, 0, "\x80\x00", finding{wire.ErrVarint, "Prims.u", 0}, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := encoded(t, c.of)
			copy(b[c.at:], c.put)
			x := shapeOf(c.of).new()
			c.slice.check(t, "UnmarshalBinary", x.UnmarshalBinary(b))
			for _, m := range modes {
				_, err := x.DecodeBinary(b, wire.Options{Mode: m.mode})
				c.slice.check(t, m.name, err)
			}
			if s := shapeOf(c.of); s.view != nil {
				_, err := s.view(b)
				c.slice.check(t, "the view", err)
			}
			if c.stream == nil {
				c.stream = &c.slice
			}
			c.stream.check(t, "DecodeStream", stream(x, b))
		})
	}
}

// TestSeeds decodes each seed, and with a byte behind it.
func TestSeeds(t *testing.T) {
	for _, s := range shapes {
		for _, m := range s.seeds {
			b := encoded(t, m)
			if x := s.new(); x.UnmarshalBinary(b) != nil || !s.equal(x, m) {
				t.Errorf("%x decodes to %+v, want %+v", b, x, m)
			}
			want := finding{wire.ErrTrailing, s.name(), len(b)}
			want.check(t, "UnmarshalBinary", s.new().UnmarshalBinary(append(slices.Clone(b), 0)))
		}
	}
}

// piece is some bytes of a message: where an error lies when the message is cut
// before the last of them. A slice's decoder refuses the length that claims
// bytes which are not there, in front of the piece; a stream's gets as far as the piece.
type piece struct {
	path  string
	size  int
	claim *finding // nil where no length claims the piece
}

// TestCutAnywhere cuts a message before each of its bytes.
func TestCutAnywhere(t *testing.T) {
	name := &finding{wire.ErrShort, "Order.buyer.name", 4}
	lines := &finding{wire.ErrLength, "Order.lines", 9} // 2 of at least 5 bytes: up to byte 20
	note := &finding{wire.ErrShort, "Order.lines[1].note", 20}
	prices := &finding{wire.ErrLength, "Order.prices", 25} // 2 of at least 5 bytes: up to byte 36
	b := encoded(t, anOrder())
	at := 0
	for _, p := range []piece{
		{"Order.id", 4, nil},
		{"Order.buyer.name", 1, nil}, {"Order.buyer.name", 3, name},
		{"Order.buyer.vip", 1, nil},
		{"Order.lines", 1, nil},
		{"Order.lines[0].sku", 2, lines}, {"Order.lines[0].count", 2, lines}, {"Order.lines[0].note", 1, lines},
		{"Order.lines[1].sku", 2, lines}, {"Order.lines[1].count", 2, lines}, {"Order.lines[1].note", 1, lines},
		{"Order.lines[1].note", 1, nil}, {"Order.lines[1].note", 4, note},
		{"Order.prices", 1, nil},
		{"Order.prices[0].key", 1, prices}, {"Order.prices[0].key", 2, prices}, {"Order.prices[0].value", 4, prices},
		{"Order.prices[1].key", 1, prices}, {"Order.prices[1].key", 2, prices}, {"Order.prices[1].value", 4, nil},
		{"Order.pay", 1, nil}, {"Order.pay.Cash.cents", 8, nil},
		{"Order.after", 1, nil},
	} {
		here := finding{wire.ErrShort, p.path, at}
		for n := at; n < at+p.size; n++ {
			want := here
			if p.claim != nil {
				want = *p.claim
			}
			var x Order
			var ix wire.Index
			want.check(t, "UnmarshalBinary", x.UnmarshalBinary(b[:n]))
			_, err := x.DecodeBinary(b[:n:n], wire.Options{Mode: wire.AliasReuse})
			want.check(t, "DecodeBinary", err)
			_, err = OrderViewOf(b[:n], &ix)
			want.check(t, "OrderViewOf", err)
			if err := stream(&x, b[:n]); n == 0 {
				if err != io.EOF {
					t.Errorf("DecodeStream of nothing: %v, want io.EOF", err)
				}
			} else {
				here.check(t, "DecodeStream", err)
			}
		}
		at += p.size
	}
	if at != len(b) {
		t.Errorf("the pieces have %d bytes, the message %d", at, len(b))
	}
}
