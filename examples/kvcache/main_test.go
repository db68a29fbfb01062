package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// story is what the demo tells, in the order of each side.
var story = map[string][]string{
	"owner": {
		`has 3 models to read, 256 blocks of 4096 B`,
		`counted \d+ times in block 3, the peer \d+ times`,
		`was notified, and finds in block 7: layer 5, from token 7000, keys\[0\] = 0.5`,
		`was not asked: \d+ MiB were written and read here, and all it got was 1 notification`,
		`has lost that peer, and its blocks are as they were. All was as claimed.`,
	},
	"peer": {
		`read the models: owl \(16 layers\), heron \(32 layers\), albatross \(64 layers\)`,
		`the peer refuses: a right that was not granted: .*?asked for was remote_read\|remote_write`,
		`got a lease, a message with a reference to 1 block to read and write; wrote it`,
		`64 B there and back with notification, \d+ times: p50 \S+s, p99 \S+s`,
		`wrote 1 MiB at a time at [0-9.]+ GB/s, read at [0-9.]+ GB/s`,
		`forged a reference that may write, and wrote. Flush fails, for: rdma: .*?the peer did not grant that right`,
	},
}

// mapped is what the peer tells where memory is shared between processes.
const mapped = `has them mapped r--s, the owner rw-s: one memory`

// build builds the program, as its users do.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "kvcache")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// check holds what was printed to the story.
func check(t *testing.T, out string, more ...string) {
	t.Helper()
	told := map[string]*strings.Builder{"owner": {}, "peer": {}}
	who := ""
	for line := range strings.Lines(out) {
		if m := regexp.MustCompile(`^ *[0-9.]+ ms  (owner|peer) +(.*)`).FindStringSubmatch(line); m != nil {
			who, line = m[1], m[2]
		}
		if told[who] == nil {
			t.Fatalf("a line of nobody: %q", line)
		}
		told[who].WriteString(strings.TrimSpace(line) + " ")
	}
	for who, parts := range story {
		if who == "peer" {
			parts = append(parts, more...)
		}
		rest := told[who].String()
		for _, p := range story[who] {
			at := regexp.MustCompile(p).FindStringIndex(rest)
			if at == nil {
				t.Fatalf("the %s does not tell %q after what goes before:\n%s", who, p, out)
			}
			rest = rest[at[1]:]
		}
		for _, p := range parts {
			if !regexp.MustCompile(p).MatchString(told[who].String()) {
				t.Fatalf("the %s does not tell %q:\n%s", who, p, out)
			}
		}
	}
}

// TestProgram runs the program as its users do.
func TestProgram(t *testing.T) {
	bin := build(t)
	t.Run("shm", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("the transport shm is for Linux, this is " + runtime.GOOS)
		}
		processes(t, bin, "shm", mapped)
	})
	t.Run("iwarp", func(t *testing.T) { processes(t, bin, "iwarp") })
	t.Run("usage", func(t *testing.T) { usage(t, bin) })
}

// processes looks also for what two processes leave.
func processes(t *testing.T, bin, transport string, more ...string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin)
	cmd.Dir = t.TempDir()
	var log bytes.Buffer
	cmd.Stderr = &log
	cmd.Env = append(os.Environ(), "TRANSPORT="+transport)
	out, err := cmd.Output()
	if err != nil || log.Len() > 0 {
		t.Fatalf("%v\n%s%s", err, out, &log)
	}
	check(t, string(out), more...)
	if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// TestInProcess runs both sides here, so that the race detector sees them.
func TestInProcess(t *testing.T) { inProcess(t) }

// TestReordered: the demo relies on no more order than all transports keep.
func TestReordered(t *testing.T) {
	defer rdma.Use(soft.Provider())
	for seed := range uint64(4) {
		rdma.Use(soft.New(soft.Config{Reorder: true, Seed: seed + 1}))
		t.Run(fmt.Sprint("seed ", seed+1), inProcess)
	}
}

func inProcess(t *testing.T) {
	defer func(d time.Duration) { maxTime = d }(maxTime)
	maxTime = 20 * time.Millisecond
	var out lines
	if err := demo(t.Context(), screen{&out, time.Now()}, "soft"); err != nil {
		t.Fatalf("%v\n%s", err, out.b.String())
	}
	check(t, out.b.String())
}

// lines takes what both sides write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// usage: a transport that is not there is the caller's mistake.
func usage(t *testing.T, bin string) {
	for _, args := range [][]string{{"-transport", "tcp"}, {"now"}, {"-wrong"}} {
		out, err := exec.Command(bin, args...).CombinedOutput()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 {
			t.Errorf("%q: %v, want exit status 2\n%s", args, err, out)
		}
	}
}

// TestPeerDies: an owner whose peer cannot start ends, and says so.
func TestPeerDies(t *testing.T) {
	var out lines
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o, err := newOwner(ctx, screen{&out, time.Now()}, "soft")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := o.close(); err != nil {
			t.Error(err)
		}
	}()
	go func() {
		s, err := newSide(ctx, screen{&out, time.Now()}, "peer", "soft")
		if err != nil {
			t.Error(err)
			return
		}
		if s.conn, err = s.dom.Dial(ctx, o.addr()); err != nil {
			t.Error(err)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := o.serve(ctx); err == nil {
		t.Error("the owner has served a peer that went away")
	}
}

// TestMistakes: what testdata/wrong.go does, does not compile, line by line.
func TestMistakes(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(here, "testdata", "wrong.go")
	source, err := os.ReadFile(wrong)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(here, "wrong.go"): wrong}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-gcflags=-e", "-overlay", file, "-o", os.DevNull, ".").CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	wanted := 0
	for i, line := range strings.Split(string(source), "\n") {
		if _, want, ok := strings.Cut(line, "// want "); ok {
			wanted++
			if !regexp.MustCompile(fmt.Sprintf(`wrong\.go:%d:\d+: .*%s`, i+1, regexp.QuoteMeta(want))).Match(out) {
				t.Errorf("line %d: no error with %q in\n%s", i+1, want, out)
			}
		}
	}
	if errors := strings.Count(string(out), "wrong.go:"); errors != wanted || wanted == 0 {
		t.Errorf("%d errors, want %d:\n%s", errors, wanted, out)
	}
}

// TestReadme: what the README says that the demo prints is what it prints, and
// what it says of the compiler is what that says.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	printed := regexp.MustCompile("(?m)^```\n( +[0-9.]+ ms  owner (?s:.*?))```").FindSubmatch(b)
	if printed == nil {
		t.Fatal("README.md does not show the demo")
	}
	check(t, string(printed[1]), mapped)
	wrong, err := os.ReadFile(filepath.Join("testdata", "wrong.go"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(wrong), "\n")
	shown := regexp.MustCompile(`(?m)^wrong\.go:(\d+):\d+: (.*)\n +(.*)$`).FindAllSubmatch(b, -1)
	if len(shown) == 0 {
		t.Error("README.md shows no mistake")
	}
	for _, e := range shown {
		n, err := strconv.Atoi(string(e[1]))
		if err != nil || n > len(lines) {
			t.Fatalf("line %s, %v", e[1], err)
		}
		code, want, _ := strings.Cut(lines[n-1], " // want ")
		if !strings.HasSuffix(code, string(e[3])) || !strings.Contains(string(e[2]), want) {
			t.Errorf("README.md has %q with %q, and the test %q with %q", e[3], e[2], code, want)
		}
	}
}
