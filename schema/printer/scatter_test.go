package printer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// scattered has every construct of both dialects; its tokens, or those of random
// types, are joined by random white space and comments.
const scattered = `type A struct { a : u8 bcd : optional < list < str > [ 4 ] > e : map < u8 > < data [ 3 ] > f : struct { g : u8 } h : enum { X Y = 2 } }
enum E u8 { A B = 4 } enum F { A }
type U union { u8 | u16 = 4 | struct { a : u8 } } type V union { | u8 | u16 | }
type O { a : string b : [ ] data < 4 > c : map [ u8 ] [ 3 ] u8 d : ( A | B = 3 ) e : [ ] { f : u8 } } type P ( | A | [ 3 ] A | )
type Q union { | } type R { a : ( | ) b : union { } c : { } d : enum { } } type S ( ) enum T u8 { }`

var aToken = regexp.MustCompile(`[A-Za-z0-9]+|[^\sA-Za-z0-9]`)

// TestCommentsAnywhere puts comments, annotations and blank lines between any two
// tokens. Whatever they belong to before formatting they belong to after it.
// BAREWIRE_SEED repeats a run.
func TestCommentsAnywhere(t *testing.T) {
	seed := rand.Uint64()
	if s := os.Getenv("BAREWIRE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	runs := 2000
	if testing.Short() {
		runs = 200
	}
	all := aToken.FindAllString(scattered, -1)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 2 * runs {
		tokens := all
		if i%2 == 1 {
			tokens = aToken.FindAllString("type A "+randomType(r, 3)+"type B "+randomType(r, 3), -1)
		}
		text := scatter(r, tokens)
		out, err := check([]byte(text))
		if err == nil && out == nil {
			err = fmt.Errorf("it does not parse")
		}
		if err == nil && strings.Count(text, "#") != strings.Count(string(out), "#") {
			err = fmt.Errorf("comments were lost")
		}
		if err != nil {
			t.Fatalf("BAREWIRE_SEED=%d: %v\ninput:\n%s", seed, err, text)
		}
	}
}

func scatter(r *rand.Rand, tokens []string) string {
	var b strings.Builder
	odds := 2 + r.IntN(30)
	for i, tok := range tokens {
		b.WriteString(tok)
		b.WriteByte(' ')
		for n := 0; n < 3 && r.IntN(odds) == 0; n++ {
			switch r.IntN(7) {
			case 0, 1:
				fmt.Fprintf(&b, "# c%d\n", i)
			case 2:
				fmt.Fprintf(&b, "\n  # own%d\n", i)
			case 3:
				fmt.Fprintf(&b, "#@a(%d)\n", i)
			case 4:
				fmt.Fprintf(&b, "\n#@b(%d)\n", i)
			case 5:
				b.WriteString("\n\n")
			case 6:
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}

// randomType is a type of either dialect or a mix, up to depth levels deep.
func randomType(r *rand.Rand, depth int) string {
	if depth == 0 {
		flat := []string{"u8 ", "B ", "data ", "data[4] ", "data<4> ", "string ", "{} ", "() ", "(|) ", "union{|} ", "enum{C D=4} "}
		return flat[r.IntN(len(flat))]
	}
	elem := func() string { return randomType(r, depth-1) }
	switch r.IntN(10) {
	case 0:
		return "optional<" + elem() + ">"
	case 1:
		return "list<" + elem() + ">[3]"
	case 2, 3:
		return "[]" + elem()
	case 4, 5:
		return "[3]" + elem()
	case 6:
		return "map<" + elem() + "><" + elem() + ">"
	case 7:
		return "map[" + elem() + "]" + elem()
	case 8:
		members := []string{elem(), elem() + "=3", elem()}[:r.IntN(4)]
		pipe := [...]string{"", "|"}
		body := pipe[r.IntN(2)] + strings.Join(members, "|")
		if len(members) > 0 {
			body += pipe[r.IntN(2)]
		}
		if r.IntN(2) == 0 {
			return "(" + body + ")"
		}
		return "union{" + body + "}"
	}
	return [...]string{"", "struct"}[r.IntN(2)] + "{a:" + elem() + "bc:" + elem() + "}"
}
