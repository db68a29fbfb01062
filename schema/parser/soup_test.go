package parser

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestSoup parses random sequences of tokens: it ends, and the spans are right.
// BAREWIRE_SEED repeats a run.
func TestSoup(t *testing.T) {
	seed := rand.Uint64()
	if s := os.Getenv("BAREWIRE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	words := strings.Split("type enum struct union list map optional data u8 str string A B a b x y 1 0x2 1.5 int32 List vec foo- - . { } ( ) [ ] < > | = : , ; ? @ @a(1) # #@a(b) // /* */ é € \n \n \n type\u00a0A", " ")
	r := rand.New(rand.NewPCG(seed, 0))
	runs := 30000
	if testing.Short() {
		runs = 3000
	}
	for range runs {
		var b strings.Builder
		b.WriteString("type A ")
		for range r.IntN(40) {
			b.WriteString(words[r.IntN(len(words))])
			if r.IntN(3) > 0 {
				b.WriteByte(' ')
			}
		}
		text := b.String()
		hung := time.AfterFunc(20*time.Second, func() {
			panic("hangs: BAREWIRE_SEED=" + strconv.FormatUint(seed, 10) + " " + strconv.Quote(text))
		})
		tree, errs := Parse(source.NewFile("f", []byte(text)))
		hung.Stop()
		checkSpans(t, tree, errs)
		if t.Failed() {
			t.Fatalf("BAREWIRE_SEED=%d %q", seed, text)
		}
	}
}
