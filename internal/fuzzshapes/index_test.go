package fuzzshapes

import (
	"fmt"
	"testing"
)

// TestIndexOutOfRange reads and writes behind the end of a list of fixed length: the
// panic is an array's, and the field behind the list stays as it was.
func TestIndexOutOfRange(t *testing.T) {
	v, err := FlagsViewOf(make([]byte, FlagsBinarySize))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(i int){
		"N":    func(i int) { v.N(i) },
		"SetN": func(i int) { v.SetN(i, 1) },
	} {
		for _, i := range []int{v.NLen(), -1, 1 << 30} {
			want := fmt.Sprintf("runtime error: index out of range [%d] with length %d", i, v.NLen())
			if i < 0 {
				want = fmt.Sprintf("runtime error: index out of range [%d]", i)
			}
			if got := panicOf(func() { f(i) }); got != want {
				t.Errorf("%s(%d) panics with %q, want %q", name, i, got, want)
			}
		}
	}
}

func panicOf(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return ""
}
