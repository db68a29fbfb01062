package rdma_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/golden"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

type refusal = scratch.Refusal

// refusals is what the compiler says, by the catalogue's entry.
func refusals(t *testing.T) map[int][]refusal {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a module")
	}
	compiled.once.Do(func() {
		m := scratch.New(t, "", "")
		code, err := os.ReadFile("../internal/sample/sample_bare.go")
		ok(t, err)
		m.Write("sample/sample_bare.go", code)
		compiled.by = map[int][]refusal{}
		for _, r := range m.Refused("testdata/misuse/*.go") {
			n, err := strconv.Atoi(r.Note)
			if err != nil {
				t.Errorf("%s:%d: %q is no entry", r.File, r.Line, r.Note)
			}
			compiled.by[n] = append(compiled.by[n], r)
		}
	})
	return compiled.by
}

const docPath = "../../docs/misuse.md"

// TestMisuseDoc holds docs/misuse.md to the catalogue and to what is said now. The
// compiler's words are compared where the compiler is the page's.
func TestMisuseDoc(t *testing.T) {
	page := misusePage(t)
	if os.Getenv(golden.UpdateVar) != "" {
		ok(t, os.WriteFile(docPath, []byte(page), 0o644))
		t.Errorf("%s is written; run again without %s", docPath, golden.UpdateVar)
		return
	}
	b, err := os.ReadFile(docPath)
	ok(t, err)
	old := string(b)
	if !strings.Contains(old, "`"+runtime.Version()+"`") {
		old, page = withoutCompiler(old), withoutCompiler(page)
	}
	if old == page {
		return
	}
	was, now := strings.Split(old, "\n"), strings.Split(page, "\n")
	for i := range min(len(was), len(now)) {
		if was[i] != now[i] {
			t.Errorf("line %d is\n%s\nand should be\n%s", i+1, was[i], now[i])
			break
		}
	}
	t.Errorf("%s is out of date; refresh it with %s='*'", docPath, golden.UpdateVar)
}

// withoutCompiler leaves out what depends on the compiler's version.
func withoutCompiler(page string) string {
	return regexp.MustCompile("(?m)^(app\\.go:|The compiler's errors are).*\n").ReplaceAllString(page, "")
}

// misusePage is the page of the catalogue with the messages that users see.
func misusePage(t *testing.T) string {
	var s strings.Builder
	fmt.Fprintf(&s, pageHead, '`', runtime.Version())
	s.WriteString("| | mistake | here | how |\n|---|---|---|---|\n")
	said := refusals(t)
	for _, m := range catalogue {
		n := strconv.Itoa(m.n)
		if len(said[m.n]) > 0 || len(m.is) > 0 {
			n = fmt.Sprintf("[%s](#%s)", n, n)
		}
		fmt.Fprintf(&s, "| %s | %s | %s | %s |\n", n, m.mistake, strings.Join(m.ends, "; "), m.how)
	}
	s.WriteString(devices)
	s.WriteString("\n## What is said\n")
	for _, m := range catalogue {
		m.section(t, &s, said[m.n])
	}
	return s.String()
}

const pageHead = `<!-- Written by the tests of runtime/rdma from misuse_table_test.go and from what was said; DO NOT EDIT.
     To refresh: BAREWIRE_UPDATE_GOLDEN='*' go test -run TestMisuseDoc ./runtime/rdma -->

# Mistakes

Fifty mistakes that programs with RDMA were found to have, collected from the issues of some forty projects, and one
more that was found in a trial; and what becomes of them here: over the providers soft (one process), shm (one host) and
iwarp (between hosts). The tests commit each one that can be committed.

* **does not compile**: the types refuse it.
* **error**: the call that makes the mistake, or else the next one, gives an error that names the region, its type,
  where it was made, and where the operation was posted. It never panics.
* **cannot happen**: there is nothing to get wrong, or the library sees to it.
* **vet**: ` + "`barewire-gen vet`" + ` finds it before the program runs, with the codes that stand there (` + "`barewire-gen explain`" + `): where it is sure,
  for what happens within a function and what it calls.
* **not here**: soft, shm and iwarp have nothing of the kind.

The compiler's errors are those of %[1]c%[2]s%[1]c, shortened: a type that is "missing in" a constraint comes with the list of those that are not.

`

// devices is for memory of devices, hosts and nodes. The corpus of the analyzers is held to what it says of vet.
const devices = `
## Memory of devices

Memory of GPUs is that of ` + "`runtime/gpu`" + `, memory at nodes that of ` + "`runtime/numa`" + `, and memory behind CXL that of ` + "`runtime/cxl`" + `. What memory of devices asks for is said by directives: ` + "`fills`" + `, ` + "`acquires`" + `, ` + "`yields`" + `, ` + "`needs`" + `, ` + "`cleans`" + `, ` + "`hands`" + `, ` + "`within`" + ` and ` + "`meets`" + `; the
analyzers' corpus has types that carry them, and a test holds what is found on ` + "`runtime/gpu`" + ` itself (` + "`analyzers/testdata/gpu`" + `). The mistakes that concern GPUs,
beside those for vet below:

| | mistake | here |
|---|---|---|
| memory 1, 2 | an address of the device is read or written by the host | does not compile; by unsafe code it faults |
| memory 3, 20 | a pointer, or what has one, goes to the device | does not compile: schemas have none |
| memory 4, 6, 7, 8 | the host's memory where the device's is wanted, a copy in a direction that the memory has not | does not compile |
| memory 5 | the host's address of pinned memory where the device has another | no address is asked for: the region has both |
| memory 9, 10, 12 | memory is closed while a copy or a kernel has it | error, and vet; the host's reading or writing meanwhile, vet alone |
| memory 13, 14 | a block is used again before its operation has ended | error: a region is closed only when nothing has it, and then its memory goes back to the driver |
| memory 15 | managed memory is touched while a kernel runs | does not compile without acquiring it, for which kernels are waited and then refused; unified memory takes a witness; by unsafe code it faults |
| memory 16 | memory of a kind that the device has not | error |
| memory 17, 18 | memory of one device or context is used, or freed, on another | error; a region frees itself |
| memory 19 | a thread without a context | cannot happen: calls make their own current |
| memory 22, 23 | a dma-buf at a wrong offset; a window registered with a network card | memory begins at whole pages; a window cannot be registered: does not compile |
| memory 24 | pinned memory is at another node than the GPU | ` + "`gpu.NewHostAt(dev, gpu.Near, …)`" + ` has it at the device's node, looked for when it is pinned, or is an error; ` + "`gpu.NewHost`" + ` leaves it to the driver |

Of the mistakes that programs with such memory were found to have, these are for vet to find, where the functions say so:

| | mistake | here |
|---|---|---|
| memory 9 | what a copy from the device fills, or a kernel has, is read before it has ended | vet (BW5114), unless ` + "`gpu.In` or `gpu.Shared`" + ` say that it may be |
| memory 10 | the source of a copy to the device is written or freed before it has ended | vet (BW5108, BW5114) |
| memory 11 | a kernel in one stream reads what a copy in another brings, and did not wait for it | vet (BW5116) |
| memory 12 | memory is freed while a kernel runs on it | vet (BW5108) |
| memory 15 | managed memory is touched while kernels run on it | vet (BW5117) |
| memory 21 | memory of a GPU and its copy on the host are not brought up to date between the kernel and the host's work | vet (BW5117, BW5118) |
| memory 25 | pages are touched, or locked, before they are bound to a node | vet (BW5117) |
| memory 29 | device-dax is mapped by hand, at an offset, or with a length, that the device does not take | no finding, see below |
| memory 34 | memory that hosts share without coherence is handed over before it was flushed | vet (BW5118) |

11 is found where the types say which stream memory is in: what one stream has given to it goes to another by a call that waits. A runtime whose copies
leave the memory as it was has to make the second stream wait itself, since no directive says of one operation that it is behind another.

29 is not for vet: that a descriptor is one of device-dax is in the name that was opened, often in another function or in a configuration, and a mapping
with the right offset and length is no mistake. The kernel refuses a length or a private mapping that does not fit, but not an offset, nor a length
beyond the device's end; ` + "`cxl.Open`" + ` checks these. A slice that was mapped by hand cannot become a region: that does not compile, as in 8.

And these are for the types, or for the allocators ` + "`numa`" + ` and ` + "`cxl`" + `, each with the test that commits it:

| | mistake | here | test |
|---|---|---|---|
| memory 25 | memory is bound after it was touched, and stays elsewhere | cannot happen: it is bound before anybody has it, touched, and each page looked for | ` + "`TestNew`" + ` in ` + "`runtime/numa`" + `, ` + "`TestLabNodes`" + ` |
| memory 26, 31, 33 | the kernel moves pages later, or the node is taken away | error where registering moves them (` + "`ErrPlacementLost`" + `); else ` + "`Placement`" + ` tells, when it is asked | ` + "`TestLabNode`" + ` in ` + "`runtime/cxl`" + ` |
| memory 27 | a node that is not there, or a mask that is too small for it | error; masks have room for all nodes that a kernel can have | ` + "`TestNoNode`" + ` in ` + "`runtime/internal/mempolicy`" + ` |
| memory 28 | a container's EPERM is read as something else | error ` + "`ErrForbidden`" + `, or the fallback with that reason | ` + "`TestForbidden`" + ` in ` + "`runtime/numa`" + ` |
| memory 29 | an offset, length or size that a device-dax does not take | error ` + "`ErrPart`" + ` | ` + "`TestOpen`" + ` in ` + "`runtime/cxl`" + ` |
| memory 30 | no page is left at the node: a signal, or a process that is killed | error ` + "`ErrElsewhere`" + ` | ` + "`TestLabFull`" + ` in ` + "`runtime/numa`" + ` |
| memory 32 | memory that was wanted behind CXL is the machine's own, silently | does not compile: it is of another type; else error | ` + "`TestMisuse`" + `, ` + "`TestFallback`" + ` in ` + "`runtime/cxl`" + ` |
| memory 34 | a flush is forgotten on memory that is not coherent | does not compile: there is no view, only ` + "`Publish`" + ` and ` + "`Snapshot`" + ` | ` + "`TestMisuse`" + `, ` + "`TestForgetful`" + ` in ` + "`runtime/cxl`" + ` |
| memory 35 | a line is given up without a fence, and read stale | cannot happen: fences are a part of it | ` + "`TestKeeps`" + ` in ` + "`runtime/internal/flush`" + ` |
| memory 36 | the wrong instruction of the cache for what is wanted | cannot happen: there is one, to the point of coherency; durability is not offered | the same |
| memory 37 | a poisoned line ends the program | error ` + "`ErrMemory`" + ` of ` + "`CopyOut`" + ` and ` + "`CopyIn`" + `, which names region and element; by a window it still does | ` + "`TestBulk`" + ` in ` + "`runtime`" + `, ` + "`TestLabPoison`" + ` in ` + "`runtime/numa`" + `, ` + "`TestLabMachineCheck`" + ` in ` + "`runtime/cxl`" + ` |
`

// TestMemoryTests: each test that the page names for mistakes with memory of devices is there, in the package that it names or, of several without
// one, in any of the runtime's.
func TestMemoryTests(t *testing.T) {
	names := regexp.MustCompile("`(Test\\w+)`(?: in `(runtime[\\w/]*)`)?").FindAllStringSubmatch(devices, -1)
	if len(names) < 15 {
		t.Errorf("%d tests are named", len(names))
	}
	var code strings.Builder
	ok(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			b, rerr := os.ReadFile(path)
			fmt.Fprintf(&code, "package runtime/%s\n%s\n", strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../"), b)
			err = rerr
		}
		return err
	}))
	all := strings.ReplaceAll(code.String(), "package runtime/..\n", "package runtime\n")
	for _, n := range names {
		in := false
		for file := range strings.SplitSeq(all, "\npackage runtime") {
			of, _, _ := strings.Cut(file, "\n")
			in = in || strings.Contains(file, "\nfunc "+n[1]+"(t *testing.T)") && (n[2] == "" || "runtime"+of == n[2])
		}
		if !in {
			t.Errorf("there is no %s in %q", n[1], n[2])
		}
	}
}

// section is what is said to one entry.
func (m *misuse) section(t *testing.T, s *strings.Builder, said []refusal) {
	if len(said) == 0 && len(m.is) == 0 {
		return
	}
	fmt.Fprintf(s, "\n### %d\n\n%s.\n", m.n, sentence(m.mistake))
	if len(said) > 0 {
		s.WriteString("\n```go\n")
		for _, r := range said {
			s.WriteString(r.Code + "\n")
		}
		s.WriteString("```\n\n```\n")
		for i, r := range said {
			fmt.Fprintf(s, "app.go:%d: %s\n", i+1, shorten(r.Text))
		}
		s.WriteString("```\n")
	}
	if len(m.is) > 0 {
		var text string
		t.Run(strconv.Itoa(m.n), func(t *testing.T) { text = m.try(m.showcase(t)) })
		fmt.Fprintf(s, "\n```\n%s\n```\n", plainly(text))
	}
}

// showcase is the provider whose words the page has.
func (m *misuse) showcase(t *testing.T) *world {
	if m.only == "iwarp" {
		return iwarpWorld(t)
	}
	return softWorld(t, soft.Config{Seed: 1})
}

// sentence begins with a capital, unless it begins with a name.
func sentence(s string) string {
	if strings.HasPrefix(s, "iWARP") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// shorten leaves out of a compiler's error the list of types and the modules' paths.
func shorten(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text = regexp.MustCompile(` \(\S+ missing in [^()]*\)`).ReplaceAllString(text, "")
	return regexp.MustCompile(`github\.com/fidelityframework/barewire-gen/(scratch/|runtime/)?`).ReplaceAllString(text, "")
}

// plainly leaves out of an error what differs from run to run: lines of the tests, names
// and keys.
func plainly(text string) string {
	for _, r := range [][2]string{
		{`rdma/\w+_test\.go:\d+`, "app/app.go:12"},
		{`key 0x[0-9a-f]+`, "key 0x5bd1e995"},
		{`bytes \d+ to \d+`, "bytes 4096 to 4160"},
		{`it is at \d+`, "it is at 4100"},
		{`\b(dialer|listener|soft)-\d+`, "peer"},
		{`\b127\.0\.0\.1:\d+`, "peer"},
		{`\b\d+ messages and notifications`, "48 messages and notifications"},
		{`\b\d+ times, and its`, "150 times, and its"},
	} {
		text = regexp.MustCompile(r[0]).ReplaceAllString(text, r[1])
	}
	return text
}

// TestPlainly: places, keys and peers are the same in each run.
func TestPlainly(t *testing.T) {
	got := plainly("write with region made at rdma/x_test.go:17 and key 0xab, bytes 0 to 8 at dialer-3: refused")
	if want := "write with region made at app/app.go:12 and key 0x5bd1e995, bytes 4096 to 4160 at peer: refused"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := shorten("A does not satisfy x.B (A missing in x.C | x.D)"); got != "A does not satisfy x.B" {
		t.Errorf("a constraint's types are listed: %q", got)
	}
}
