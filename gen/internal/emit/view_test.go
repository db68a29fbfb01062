package emit_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// viewsModule is a module with the code generated for testdata/views.
func viewsModule(t *testing.T) *scratch.Module {
	t.Helper()
	text, err := os.ReadFile("testdata/views/views.bare")
	if err != nil {
		t.Fatal(err)
	}
	code, err := scratch.Generate(map[string]string{"views.bare": string(text)}, gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := scratch.New(t, "", "")
	for name, content := range code {
		m.Write("views/"+name, content)
	}
	return m
}

// TestViews runs the tests in testdata/views beside the code generated for the
// schema there, with the compiler's checks of unsafe pointers.
func TestViews(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	m := viewsModule(t)
	for _, name := range []string{"views_test.go", "faults_test.go"} {
		program, err := os.ReadFile("testdata/views/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		m.Write("views/"+name, program)
	}
	m.Vet("./views")
	for _, arch := range []string{"386", "arm64", "s390x"} {
		if _, err := m.Go([]string{"GOARCH=" + arch, "CGO_ENABLED=0"}, "build", "./views"); err != nil {
			t.Error(err)
		}
	}
	out, err := m.Go(nil, "test", "-gcflags=github.com/fidelityframework/...=-d=checkptr", "./views")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out, "ok") {
		t.Errorf("the program prints %s", out)
	}
}

// TestViewsInline holds accessors to the compiler's inlining budget: all of
// fixed views, and those of indexed views but for maps and what looks for keys.
func TestViewsInline(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	m := viewsModule(t)
	out, err := m.Go(nil, "build", "-gcflags=-m=2", "./views")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(can|cannot) inline (\w+View)\.(\w+)(?:: function too complex: cost (\d+))?`)
	// What is not asked for: whole messages, elements of lists that are not
	// numbers, strings or views, entries of maps, and optionals of optionals and
	// of lists.
	slow := regexp.MustCompile(`\.(Validate|Load|Store|At|Get|Optopt|Optlist)$`)
	seen := map[string]bool{}
	for _, f := range line.FindAllStringSubmatch(out, -1) {
		name := f[2] + "." + f[3]
		seen[name] = true
		if f[1] == "cannot" && !slow.MatchString(name) {
			t.Errorf("%s is not inlined: it costs %s", name, f[4])
		}
	}
	for _, name := range []string{
		"SmallView.Price", "SmallView.SetPrice", "SmallView.Pair", "SmallView.Side", "TensorView.Payload", "TensorView.PayloadSlice",
		"RecordView.Name", "RecordView.Phone", "RecordView.Siblings", "RecordView.Money", "LargeView.Records", "LargeView.Note",
		"ChoiceView.Kind", "ChoiceView.AsRecord", "FixedView.Same", "SameView.AsQuad", "OddView.Optrec", "OddView.Uni", "GridView.Len",
	} {
		if !seen[name] {
			t.Errorf("the compiler says nothing of %s", name)
		}
	}
}
