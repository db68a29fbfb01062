package difftest

import (
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/internal/schemagen"
)

// seed is the run's. Schema and value number i come from seed+i.
var seed = sync.OnceValue(func() int {
	if s, err := strconv.Atoi(os.Getenv("DIFFTEST_SEED")); err == nil {
		return s
	}
	return int(time.Now().UnixNano() % 1_000_000_000)
})

// sayHow prints how to repeat the run, where people look after a failure.
func sayHow(t *testing.T) {
	t.Logf("to repeat: DIFFTEST_SEED=%d go test -run '^%s$' ./internal/difftest", seed(), t.Name())
}

// schemas is how many random schemas a test takes: n, a tenth with -short, twenty times with SOAK=1.
func schemas(n int) int {
	switch {
	case os.Getenv("SOAK") == "1":
		return 20 * n
	case testing.Short():
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

// subjects makes n random schemas of a language.
func subjects(n int, lang schemagen.Lang, dialect func(i int) schemagen.Dialect, explicit bool) []*subject {
	list := make([]*subject, n)
	for i := range list {
		l := lang
		l.Prefix = "S" + strconv.Itoa(i)
		s := &subject{lang: l, seed: seed() + i}
		s.schema = schemagen.Schemas(l).Example(s.seed)
		s.text = s.schema.Print(dialect(i), uint64(s.seed), explicit)
		list[i] = s
	}
	return list
}

// langAll is all that the compiler reads, in every dialect.
var langAll = schemagen.Lang{Forward: true, FixedEnums: true}
