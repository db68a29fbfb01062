package bwlife

import (
	"go/types"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// never are the functions of the standard library after which nothing follows. What is here by name is
// the standard library's only; what the runtime does its directives say.
var never = map[string]bool{
	"os.Exit": true, "runtime.Goexit": true, "syscall.Exit": true,
	"log.Fatal": true, "log.Fatalf": true, "log.Fatalln": true, "log.Panic": true, "log.Panicf": true, "log.Panicln": true,
	"(*log.Logger).Fatal": true, "(*log.Logger).Fatalf": true, "(*log.Logger).Fatalln": true,
	"(*log.Logger).Panic": true, "(*log.Logger).Panicf": true, "(*log.Logger).Panicln": true,
}

func init() {
	for _, recv := range []string{"(*testing.common).", "(*testing.T).", "(*testing.B).", "(*testing.F).", "(testing.TB)."} {
		for _, name := range []string{"Fatal", "Fatalf", "FailNow", "Skip", "Skipf", "SkipNow"} {
			never[recv+name] = true
		}
	}
}

func neverReturns(f *types.Func) bool {
	return f.Pkg() != nil && std(f.Pkg()) && never[f.FullName()]
}

// wellKnown is what is known of functions of the standard library.
func wellKnown(f *types.Func) *facts.Func {
	if f.Pkg() == nil || !std(f.Pkg()) {
		return nil
	}
	switch f.FullName() {
	case "errors.New", "fmt.Errorf":
		return &facts.Func{NeverNil: []int{0}}
	}
	if f.Pkg().Path() == "encoding/binary" && f.Signature().Recv() != nil {
		return byteOrder(f)
	}
	return nil
}
