package fuzzshapes

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// shape is a generated type under test.
type shape struct {
	new   func() runner.Message
	equal func(x, y runner.Message) bool
	// perByte is the multiple of a message's bytes that package wire documents
	// for the memory of decoding one.
	perByte int
	view    func(b []byte) (any, error) // nil where there is none
	fixed   bool                        // the view takes what lies behind the message too
	seeds   []runner.Message
}

func (s *shape) name() string { return reflect.TypeOf(s.new()).Elem().Name() }

// shapeOf finds a value's shape.
func shapeOf(m runner.Message) *shape {
	return shapes[slices.IndexFunc(shapes, func(s *shape) bool { return reflect.TypeOf(s.new()) == reflect.TypeOf(m) })]
}

// pointers makes the shape of a type that has its methods on pointers.
func pointers[T any, P interface {
	*T
	runner.Message
	Equal(P) bool
}](perByte int, view func([]byte) (any, error), seeds ...P) *shape {
	s := &shape{perByte: perByte, view: view,
		new:   func() runner.Message { return P(new(T)) },
		equal: func(x, y runner.Message) bool { return x.(P).Equal(y.(P)) }}
	for _, x := range seeds {
		s.seeds = append(s.seeds, x)
	}
	return s
}

// values makes the shape of a type that has its methods on values.
func values[T interface{ Equal(T) bool }, P interface {
	*T
	runner.Message
}](perByte int, view func([]byte) (any, error), seeds ...T) *shape {
	s := &shape{perByte: perByte, view: view,
		new:   func() runner.Message { return P(new(T)) },
		equal: func(x, y runner.Message) bool { return (*x.(P)).Equal(*y.(P)) }}
	for _, x := range seeds {
		s.seeds = append(s.seeds, P(&x))
	}
	return s
}

func (s *shape) withFixedView() *shape {
	s.fixed = true
	return s
}

func some[T any](v T) wire.Optional[T] { return wire.Some(v) }

// shapes are all types that schema text declares, in an order that saved inputs
// rely on: add at the end. The greatest multiples are those of the smallest
// elements: a map of one entry in a list (256 bytes for 3), entries of a map
// with str and data (4×40 for 2).
var shapes = []*shape{
	pointers(2, runner.Indexed(PrimsViewOf), &Prims{}, &Prims{U: math.MaxUint64, I: math.MinInt64, A: 1, B: 2, C: 3, D: 4,
		E: -1, F: -2, G: -3, H: -4, X: float32(math.NaN()), Y: math.Inf(-1), OK: true, Text: "größer", Blob: []byte{0, 255}}),
	values(0, nil, ColorRed, ColorGreen, ColorBlue),
	values(0, nil, GradePass, GradeFail),
	pointers(2, runner.Indexed(OptsViewOf), &Opts{}, anOpts()),
	values(2, runner.Indexed(MaybeTextViewOf), MaybeText{}, MaybeText(some("some text"))),
	pointers(0, runner.Fixed(PointViewOf), &Point{X: 1, Y: -2.5, Tag: 7}).withFixedView(),
	pointers(86, runner.Indexed(ListsViewOf), &Lists{}, aLists()),
	pointers(2, runner.Indexed(FixedsViewOf), &Fixeds{}, &Fixeds{Nums: [3]uint32{1, 2, 3}, Texts: [2]string{"ab", "c"},
		Grid: [2][2]bool{{true, false}, {false, true}}, Opts: [2]wire.Optional[[]byte]{{}, some([]byte("xyz"))}}),
	values(18, runner.Indexed(NamesViewOf), Names{}, Names{"a", "", "a longer name"}),
	pointers(80, runner.Indexed(MapsViewOf), &Maps{}, aMaps()),
	values(80, runner.Indexed(TableViewOf), Table{}, Table{"": {}, "x": *anOpts()}),
	values(0, nil, Nothing{}),
	pointers(2, runner.Indexed(InnerViewOf), &Inner{&InnerU8{8}}, &Inner{&Nothing{}}, &Inner{ref(ColorBlue)}, &Inner{&InnerStr{"s"}}),
	pointers(72, runner.Indexed(AnyViewOf), anies()...),
	pointers(0, runner.Fixed(FlagsViewOf), &Flags{}, &Flags{On: true, Level: 500, Color: GradeFail, Marks: [3]bool{true, false, true},
		At: Point{X: 1}, N: [2]uint64{5, 6}}).withFixedView(),
	pointers(0, runner.Fixed(ShapeViewOf), &Shape{&ShapeU32{1}}, &Shape{&ShapeF32{2}}, &Shape{&ShapeData4{[4]byte{3}}}).withFixedView(),
	values(2, nil, Label(""), Label("twelve bytes")),
	pointers(2, runner.Indexed(BoundedViewOf), &Bounded{}, &Bounded{Name: "bounded", Nums: []uint16{1, 2, 3},
		By: map[uint8]Label{1: "x", 2: ""}, Blob: []byte("12345"), Maybe: some(Shape{&ShapeF32{2}})}),
	pointers(0, runner.Fixed(CashViewOf), &Cash{Cents: 1999}).withFixedView(),
	pointers(2, runner.Indexed(CardViewOf), &Card{Number: "4000 0000", Color: ColorGreen}),
	pointers(20, runner.Indexed(OrderViewOf), anOrder(), &Order{Pay: OrderPay{&Card{Number: "n", Color: ColorBlue}}}),
}

func ref[T any](v T) *T { return &v }

func anOpts() *Opts {
	return &Opts{Num: some(uint32(70000)), Text: some("text"), Twice: some(some(true)), List: some([]uint16{1, 2}), Color: some(ColorBlue),
		Grade: some(GradeFail), Inner: &OptsInner{Deep: some(some("deep")), Hash: some([8]byte{1, 2, 3})}}
}

func aLists() *Lists {
	return &Lists{Bytes: []byte("bytes"), Small: []int8{-1, 1}, Halves: []int16{-300}, Floats: []float32{1.5, 2}, Doubles: []float64{math.Pi},
		Uints: []uint64{0, 127, 128, math.MaxUint64}, Ints: []int64{0, -1, math.MinInt64}, Bools: []bool{true, false}, Texts: []string{"a", "ñ"},
		Blobs: [][]byte{{}, {1, 2}}, Hashes: [][3]byte{{1}, {2, 3}}, Colors: []Color{ColorRed, ColorBlue}, Opts: []wire.Optional[uint64]{{}, some(uint64(9))},
		Nested: [][][]uint16{{}, {{}, {1, 2}}}, Maps: []map[uint8]string{{}, {1: "x", 2: "y"}}, Structs: []ListsStructsItem{{"k", 1}},
		Choice: []ListsChoiceItem{{&ListsChoiceItemU8{1}}, {&ListsChoiceItemStr{"s"}}}, Points: []Point{{X: 1}, {Tag: 2}},
		Flags: []Flags{{}, {On: true, Color: GradeFail, N: [2]uint64{1, 2}}}, Shapes: []Shape{{&ShapeU32{1}}, {&ShapeData4{[4]byte{1}}}}}
}

func aMaps() *Maps {
	return &Maps{U: map[uint64]uint8{1: 1, 300: 2}, I: map[int64]uint8{-1: 1, 70: 2}, B: map[uint8]uint8{0: 1, 2: 3}, W: map[int16]string{-1: "w"},
		D: map[uint32][]byte{1: {1, 2}}, Q: map[int64]wire.Optional[uint8]{-5: {}, 5: some(uint8(1))}, OK: map[bool]string{false: "f", true: "t"},
		Text: map[string][]byte{"a": {1}, "b": {}}, Blob: map[string]string{"\xff": "x"}, Hash: map[[4]byte]Point{{1}: {X: 1}},
		Color: map[Color]bool{ColorRed: true, ColorBlue: false}, Grade: map[Grade]map[string]uint8{GradeFail: {"x": 1}, GradePass: {}}}
}

func anies() []*Any {
	return []*Any{{&Nothing{}}, {&AnyBool{true}}, {&AnyUint{1 << 40}}, {&AnyStr{"str"}}, {&AnyData{[]byte{0xff}}}, {&AnyF64{-0.5}},
		{&AnyListInner{[]Inner{{&InnerU8{1}}, {&Nothing{}}, {ref(ColorGreen)}}}}, {&Inner{&InnerStr{"inner"}}}, {&Point{Y: 3}},
		{&AnyMapStrInner{map[string]Inner{"a": {&Nothing{}}, "b": {&InnerStr{"b"}}}}}}
}

// anOrder is the medium message that tests damage.
func anOrder() *Order {
	return &Order{ID: 7, Buyer: OrderBuyer{Name: "Ann", Vip: true},
		Lines:  []OrderLinesItem{{Sku: [2]byte{'a', 'b'}, Count: 2}, {Sku: [2]byte{'c', 'd'}, Count: 9, Note: some("fast")}},
		Prices: map[string]float32{"ab": 1.5, "cd": 2}, Pay: OrderPay{&Cash{Cents: 1999}}, After: 0xaa}
}

// encoded is a message that must encode.
func encoded(t testing.TB, m runner.Message) []byte {
	t.Helper()
	b, err := m.MarshalBinary()
	if err != nil {
		t.Fatalf("%T: %v", m, err)
	}
	return b
}

// seed gives a fuzz target the messages of all shapes. An input is a byte that
// says which shape, and a message.
func seed(f *testing.F) {
	for i, s := range shapes {
		for _, m := range s.seeds {
			f.Add(append([]byte{byte(i)}, encoded(f, m)...))
		}
	}
}

// dense gives a fuzz target the messages that take the most memory for their
// bytes: many elements, each as small as may be, or with one entry in a map. Of
// each there is one that is cut in the middle of what it claims.
func dense(f *testing.F) {
	const n = 3000
	maps, nested := make([]map[uint8]string, n), make([][][]uint16, n)
	fixed := slices.Repeat([]Shape{{&ShapeData4{}}}, n)
	choice, inner := make([]ListsChoiceItem, n), make([]Inner, n)
	text, blob, hash, members := map[string][]byte{}, map[string]string{}, map[[4]byte]Point{}, map[string]Inner{}
	prices, table := map[string]float32{}, Table{}
	for i := range n {
		maps[i] = map[uint8]string{0: ""}
		nested[i] = make([][]uint16, i%3)
		choice[i].Value = &ListsChoiceItemStr{}
		inner[i].Value = ref(ColorRed)
		key := string(rune(i%0x700 + 0x80)) // two bytes
		text[key], blob[key], members[key], prices[key], table[key] = nil, "", Inner{&Nothing{}}, 0, Opts{Inner: &OptsInner{}}
		hash[[4]byte{byte(i), byte(i >> 8)}] = Point{}
	}
	for _, m := range []runner.Message{
		&Lists{Maps: maps}, &Lists{Nested: nested}, &Lists{Choice: choice}, &Lists{Structs: make([]ListsStructsItem, n)},
		&Lists{Texts: make([]string, n)}, &Lists{Blobs: make([][]byte, n)}, &Lists{Opts: make([]wire.Optional[uint64], n)},
		&Lists{Uints: make([]uint64, n)}, &Lists{Flags: make([]Flags, n)}, &Lists{Shapes: fixed}, ref(Names(make([]string, n))), ref(table), &Prims{Blob: make([]byte, n)},
		&Maps{Text: text}, &Maps{Blob: blob}, &Maps{Hash: hash}, &Any{&AnyMapStrInner{members}}, &Any{&AnyListInner{inner}},
		&Order{Prices: prices, Pay: OrderPay{&Cash{}}}, &Order{Lines: make([]OrderLinesItem, n), Pay: OrderPay{&Cash{}}},
	} {
		i := slices.Index(shapes, shapeOf(m))
		b := append([]byte{byte(i)}, encoded(f, m)...)
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
}

// pick takes an input apart.
func pick(in []byte) (s *shape, msg []byte, ok bool) {
	if len(in) == 0 {
		return nil, nil, false
	}
	return shapes[int(in[0])%len(shapes)], in[1:], true
}

// TestShapesAreAll holds the table against the schema: a type without a row is
// a type that is not fuzzed.
func TestShapesAreAll(t *testing.T) {
	rows := map[string]bool{}
	for _, s := range shapes {
		if len(s.seeds) == 0 {
			t.Errorf("%s has no seed", s.name())
		}
		rows[s.name()] = true
	}
	for _, name := range declared(t) {
		if !rows[name] {
			t.Errorf("%s has no row in shapes", name)
		}
		delete(rows, name)
	}
	if len(rows) > 0 {
		t.Errorf("rows of types that shapes.bare does not declare: %s", fmt.Sprint(rows))
	}
}
