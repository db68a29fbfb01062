package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// systems have files that others have not.
var systems = []string{"linux", "darwin", "windows"}

// TestImports asks the go command for every package of the module, on each system, and holds
// each to the rules. Test files may import what they like, but for commands.
func TestImports(t *testing.T) {
	seen, said := map[string]bool{}, map[string]bool{}
	say := func(text string) {
		if !said[text] {
			t.Error(text)
		}
		said[text] = true
	}
	for _, system := range systems {
		for _, p := range packages(t, system) {
			path := strings.TrimPrefix(p.ImportPath, module+"/")
			seen[path] = true
			for _, v := range Violations(Package{path, p.Imports, p.Deps}) {
				say(v)
			}
			for _, im := range append(p.TestImports, p.XTestImports...) {
				own := strings.TrimPrefix(im, module+"/")
				if within(own, "cmd") && !within(path, "cmd") {
					say(fmt.Sprintf("%s: its tests import %s: nobody imports cmd", path, own))
				}
			}
		}
	}
	for _, must := range []string{"cmd/barewire-gen", "schema", "schema/parser", "gen", "runtime/wire"} {
		if !seen[must] {
			t.Errorf("go list did not show %s; are the rules looking at the right module?", must)
		}
	}
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath                               string
	Imports, Deps, TestImports, XTestImports []string
}

// packages lists the module's, as they are built for a system, with all that build tags of ours add.
func packages(t *testing.T, system string) (all []listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-tags=barewiredebug,lab", "-json=ImportPath,Imports,Deps,TestImports,XTestImports", "./...")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestRules breaks each rule once.
func TestRules(t *testing.T) {
	own := func(s string) string { return module + "/" + s }
	for _, c := range []struct {
		from, imports string
		deps          string
		bad           bool
	}{
		{"runtime/rdma/verbs", "github.com/ebitengine/purego", "github.com/ebitengine/purego/internal/fakecgo", false},
		{"runtime/rdma", "github.com/ebitengine/purego", "github.com/ebitengine/purego", true},
		{"runtime/rdma/shm", own("runtime/rdma/verbs"), "github.com/ebitengine/purego", true},
		{"runtime/gpu/cuda", "github.com/ebitengine/purego", "github.com/ebitengine/purego", false},
		{"runtime/gpu", own("runtime/internal/dl"), "github.com/ebitengine/purego", true},
		{"runtime/gpu", own("runtime/gpu/cuda"), "", true},
		{"runtime/gpu/cuda", own("runtime/gpu"), "", false},
		{"runtime/gpu/cuda", own("runtime/gpu/gputest"), "", true},
		{"runtime/gpu/gputest", "testing", "testing", false},
		{"runtime", own("runtime/gpu"), "", true},
		{"schema/diag", own("schema/source"), "", false},
		{"schema/diag", own("schema/ast"), "", true},
		{"schema/source", own("schema/diag"), "", true},
		{"analyzers/bwlife", "golang.org/x/tools/go/ssa", "", false},
		{"analyzers/bwlife", own("schema/diag"), "", false},
		{"analyzers/bwlife", own("runtime"), "", true},
		{"cmd/barewire-gen", "golang.org/x/tools/go/analysis/unitchecker", "", false},
		{"gen", "golang.org/x/tools/go/ssa", "", true},
		{"schema/resolve", own("schema/parser"), "", false},
		{"schema/parser", own("schema/resolve"), "", true},
		{"schema/printer", own("schema/ast"), "", false},
		{"schema/printer", own("schema/parser"), "", true},
		{"schema/parser", own("schema/printer"), "", true},
		{"schema/lint", own("schema/layout"), "", false},
		{"schema/layout", own("schema/lint"), "", true},
		{"schema/lint", own("schema/compat"), "", true},
		{"schema/new", own("schema/ast"), "", true},
		{"schema", own("schema/printer"), "", false},
		{"schema", own("gen"), "", true},
		{"schema/ast", own("internal/golden"), "", true},
		{"gen", own("schema"), "", false},
		{"gen/internal/emit", own("runtime/wire"), "", true},
		{"gen/internal/gocode", "github.com/dave/jennifer/jen", "", false},
		{"gen", "github.com/dave/jennifer/jen", "", true},
		{"gen", "github.com/spf13/cobra", "", true},
		{"cmd/barewire-gen/internal/cli", "github.com/spf13/cobra", "", false},
		{"cmd/barewire-gen", own("gen"), "", false},
		{"gen", own("cmd/barewire-gen/internal/cli"), "", true},
		{"internal/golden", own("cmd/barewire-gen/internal/cli"), "", true},
		{"runtime/wire", "encoding/binary", "encoding/binary", false},
		{"runtime/wire", "golang.org/x/sys/cpu", "golang.org/x/sys/cpu", false},
		{"runtime/wire", own("schema"), own("schema"), true},
		{"runtime/rdma", own("runtime/wire"), own("runtime/wire"), false},
		{"runtime/rdma", own("runtime/platform"), own("runtime/platform"), false},
		{"runtime/platform", own("runtime"), own("runtime"), true},
		{"runtime/platform", "golang.org/x/sys/unix", "golang.org/x/sys/unix", false},
		{"runtime/rdma", "fmt", "github.com/google/go-cmp/cmp", true},
		{"runtime/wire", "fmt", "runtime/debug", false},
		{"cmd/barewire-gen", own("gen"), "git.sr.ht/~sircmpwn/go-bare", true},
		{"cmd/barewire-gen", own("gen"), "testing", true},
		{"analyzers/life", own("schema/diag"), "", false},
		{"analyzers/life", own("gen"), "", true},
		{"runtime/rdma/rdmatest", "testing", "testing", false},
		{"runtime/rdma/rdmatest", own("runtime/rdma"), own("runtime/rdma"), false},
		{"runtime/rdma/soft", "testing", "testing", true},
		{"runtime/rdma/soft", own("runtime/rdma/rdmatest"), own("runtime/rdma/rdmatest"), true},
		{"internal/golden", own("runtime/rdma/rdmatest"), own("runtime/rdma/rdmatest"), true},
		{"runtime/rdma/soft", own("runtime/rdma/internal/ring"), "", false},
		{"runtime/rdma/iwarp", own("runtime/rdma/iwarp/internal/fpdu"), "", false},
		{"runtime/rdma/iwarp", own("runtime/rdma/soft"), "", true},
		{"runtime/rdma", own("runtime/rdma/shm"), "", true},
		{"runtime", own("runtime/wire"), "", false},
		{"runtime", own("runtime/rdma"), "", true},
		{"runtime/wire", own("runtime"), "", true},
		{"examples/telemetry", own("runtime/wire"), "", false},
		{"examples/telemetry", own("schema"), "", true},
		{"lab", own("lab/internal/machine"), "", false},
		{"lab", own("internal/testsum/summary"), "", false},
		{"lab", own("internal/golden"), "", true},
		{"lab", own("runtime/rdma"), "", true},
		{"runtime/rdma", own("lab/guest"), "", true},
		{"lab", "golang.org/x/tools/go/ssa", "", true},
		{"pkg/util", "fmt", "", true},
	} {
		p := Package{Path: c.from, Imports: []string{c.imports}}
		if c.deps != "" {
			p.Deps = []string{c.deps}
		}
		if got := Violations(p); (len(got) > 0) != c.bad {
			t.Errorf("%s imports %s (deps %s): refused %v, want %v: %q", c.from, c.imports, c.deps, len(got) > 0, c.bad, got)
		}
	}
}
