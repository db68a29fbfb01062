package wire

import (
	"math"
	"strconv"
	"strings"
	"sync"
)

// Type describes a type of a schema, for what is rare or waits for input anyway: to
// say what is wrong with a message and where, and to find the end of one in a stream.
// Generated decoders only find out that something is wrong, and are fast.
//
// Text is the type in the schema's words without spaces but between fields and
// values:
//
//	uint u8 … bool str data data[16] void $0
//	optional<T> list<T> list<T>[4] map<K><V>
//	struct{name:T other:T}  union{0=T|1=T}
//	enum{0-3 7}             its values; enum:2{0-3} takes two fixed bytes (old dialect)
//	str@32                  #@max(32), behind str, data, list<T> and map<K><V>
//
// $0 is the first of Refs, the named types that it uses.
type Type struct {
	Name string // as the schema names it
	Text string
	Refs []*Type

	once sync.Once
	node *node
	bad  bool
}

type nodeKind uint8

const (
	kFixed nodeKind = iota // size bytes of any content
	kUint                  // uint and int
	kBool
	kStr
	kData
	kEnum
	kOptional
	kList
	kFixedList
	kMap
	kUnion
	kStruct
)

// node is a Type's text, parsed.
type node struct {
	kind   nodeKind
	size   uint64 // kFixed: bytes; kFixedList: elements; kEnum: bytes, 0 for a varint
	max    uint64 // #@max, 0 for none
	least  uint64 // bytes that every value has; saturates
	elem   *node
	key    *node
	parts  []part   // fields, members
	ranges []uint64 // kEnum: first, last, first, last, …
}

// part is a struct's field or a union's member.
type part struct {
	name string
	tag  uint64
	*node
}

func (t *Type) parse() *node {
	t.once.Do(func() {
		p := parser{text: t.Text, refs: t.Refs}
		t.node = p.node()
		t.bad = p.bad || p.text != ""
	})
	if t.bad {
		return nil
	}
	return t.node
}

var primitives = map[string]node{
	"uint": {kind: kUint, least: 1}, "int": {kind: kUint, least: 1},
	"u8": fixed(1), "u16": fixed(2), "u32": fixed(4), "u64": fixed(8),
	"i8": fixed(1), "i16": fixed(2), "i32": fixed(4), "i64": fixed(8),
	"f32": fixed(4), "f64": fixed(8), "void": fixed(0),
	"bool": {kind: kBool, least: 1}, "str": {kind: kStr, least: 1}, "data": {kind: kData, least: 1},
}

func fixed(n uint64) node { return node{kind: kFixed, size: n, least: n} }

// parser reads a Type's text. It trusts it so far that it stops at the first fault.
type parser struct {
	text string
	refs []*Type
	bad  bool
}

func (p *parser) take(s string) bool {
	rest, ok := strings.CutPrefix(p.text, s)
	p.text = rest
	return ok
}

func (p *parser) want(s string) {
	if !p.take(s) {
		p.bad, p.text = true, ""
	}
}

// word takes what stands before the next of the marks.
func (p *parser) word(marks string) string {
	i := strings.IndexAny(p.text, marks)
	if i < 0 {
		i = len(p.text)
	}
	w := p.text[:i]
	p.text = p.text[i:]
	return w
}

const marks = "<>[]{}:=|@$- "

func (p *parser) number() uint64 {
	n, err := strconv.ParseUint(p.word(marks), 10, 64)
	if err != nil {
		p.bad, p.text = true, ""
	}
	return n
}

func (p *parser) node() *node {
	if p.take("$") {
		i := p.number()
		if p.bad || i >= uint64(len(p.refs)) {
			p.bad = true
			return &node{}
		}
		n := p.refs[i].parse()
		if n == nil {
			p.bad = true
			return &node{}
		}
		return n
	}
	word := p.word(marks)
	n, ok := primitives[word]
	if !ok {
		p.composite(word, &n)
	} else if word == "data" && p.take("[") {
		n = fixed(p.number())
		p.want("]")
	}
	if p.take("@") {
		n.max = p.number()
	}
	return &n
}

func (p *parser) composite(word string, n *node) {
	n.least = 1
	switch word {
	case "optional":
		n.kind, n.elem = kOptional, p.inside()
	case "list":
		n.kind, n.elem = kList, p.inside()
		if p.take("[") {
			n.kind, n.size = kFixedList, p.number()
			n.least = mul(n.size, n.elem.least)
			p.want("]")
		}
	case "map":
		n.kind, n.key, n.elem = kMap, p.inside(), p.inside()
	case "enum":
		n.kind = kEnum
		p.enum(n)
	case "union":
		n.kind, n.least = kUnion, math.MaxUint64
		p.parts(n, "=", "|")
	case "struct":
		n.kind, n.least = kStruct, 0
		p.parts(n, ":", " ")
	default:
		p.bad, p.text = true, ""
	}
}

func (p *parser) inside() *node {
	p.want("<")
	n := p.node()
	p.want(">")
	return n
}

func (p *parser) enum(n *node) {
	if p.take(":") {
		n.size = p.number()
		n.least = n.size
	}
	p.want("{")
	for !p.bad {
		first := p.number()
		last := first
		if p.take("-") {
			last = p.number()
		}
		n.ranges = append(n.ranges, first, last)
		if !p.take(" ") {
			break
		}
	}
	p.want("}")
	if n.size == 0 && !p.bad {
		n.least = uint64(SizeUint(n.ranges[0]))
	}
}

func (p *parser) parts(n *node, colon, comma string) {
	p.want("{")
	for !p.bad {
		var a part
		if n.kind == kUnion {
			a.tag = p.number()
		} else {
			a.name = p.word(marks)
		}
		p.want(colon)
		if n.kind == kUnion {
			a.name = p.memberName()
		}
		a.node = p.node()
		n.parts = append(n.parts, a)
		if n.kind == kUnion {
			n.least = min(n.least, add(uint64(SizeUint(a.tag)), a.least))
		} else {
			n.least = add(n.least, a.least)
		}
		if !p.take(comma) {
			break
		}
	}
	p.want("}")
}

// memberName is what error paths call a member: its type's name or keyword.
func (p *parser) memberName() string {
	rest := *p
	if rest.take("$") {
		if i := rest.number(); !rest.bad && i < uint64(len(p.refs)) {
			return p.refs[i].Name
		}
	}
	return rest.word(marks)
}

func add(x, y uint64) uint64 {
	if x > math.MaxUint64-y {
		return math.MaxUint64
	}
	return x + y
}

func mul(x, y uint64) uint64 {
	if x != 0 && y > math.MaxUint64/x {
		return math.MaxUint64
	}
	return x * y
}
