package difftest

import (
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/internal/schemagen"
)

// seed is the run's. Schema number i of a test comes from seed+i.
var seed = sync.OnceValue(func() int {
	if s, err := strconv.Atoi(os.Getenv("DIFFTEST_SEED")); err == nil {
		return s
	}
	return int(time.Now().UnixNano() % 1_000_000_000)
})

// rounds runs a test with the run's seed, and with SOAK=1 nineteen times more
// with seeds that follow. It prints how to repeat a round, where people look
// after a failure.
func rounds(t *testing.T, test func(t *testing.T, seed int)) {
	t.Helper()
	name := t.Name()
	sayHow := func(t *testing.T, seed int) {
		t.Logf("to repeat: DIFFTEST_SEED=%d go test -run '^%s$' ./internal/difftest", seed, name)
	}
	if os.Getenv("SOAK") != "1" {
		sayHow(t, seed())
		test(t, seed())
		return
	}
	for i := range 20 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			s := seed() + i*10_000 // past the seeds that one round uses
			sayHow(t, s)
			test(t, s)
		})
	}
}

// schemas is how many random schemas a test takes: n, or a tenth with -short.
func schemas(n int) int {
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}

// subject is a schema under test, with the text that the compiler and a peer read.
type subject struct {
	schema *schemagen.Schema
	lang   schemagen.Lang
	text   string
	seed   int
}

// subjects makes n random schemas of a language from a seed.
func subjects(seed, n int, lang schemagen.Lang, dialect func(i int) schemagen.Dialect, explicit bool) []*subject {
	list := make([]*subject, n)
	for i := range list {
		l := lang
		l.Prefix = "S" + strconv.Itoa(i)
		s := &subject{lang: l, seed: seed + i}
		s.schema = schemagen.Schemas(l).Example(s.seed)
		s.text = s.schema.Print(dialect(i), uint64(s.seed), explicit)
		list[i] = s
	}
	return list
}

// langAll is all that the compiler reads, in every dialect.
var langAll = schemagen.Lang{Forward: true, FixedEnums: true}
