//go:build !lab && (amd64 || arm64)

package verbs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// TestMemlockFake registers more than a process without CAP_IPC_LOCK may lock, in a child that is one: the stand-in refuses as the
// kernel does, and the error says what is needed, what the limit is, and what to do.
func TestMemlockFake(t *testing.T) {
	const name, limit, need = "BAREWIRE_MEMLOCK_FAKE", 1 << 20, 4 << 20
	if os.Getenv(name) == "" {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestMemlockFake$", "-test.v")
		cmd.Env = append(os.Environ(), name+"="+fake(t).opts.Library)
		out, err := withoutLock(cmd)
		if t.Logf("%s", out); err != nil || !strings.Contains(string(out), "--- PASS: TestMemlockFake") {
			t.Errorf("the child: %v", err)
		}
		return
	}
	p := New(Options{Library: os.Getenv(name)})
	a, err := p.Open(t.Context(), "", nil)
	ok(t, err)
	defer func() { ok(t, a.Close()) }()
	d, err := a.NewDomain()
	ok(t, err)
	b := mapped(t, need)
	limited := abi.At(symbol(t, p, "fake_limited"))
	ok(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit}))
	limited.Put32(0, 1)
	_, err = d.Register(memory(b, "much memory"), 0, nil)
	var m *MemlockError
	if !errors.As(err, &m) || m.Need != need || m.Limit != limit || !errors.Is(err, unix.ENOMEM) {
		t.Fatalf("got %v, %+v; want need %d, limit %d", err, m, need, limit)
	}
	for _, says := range []string{"much memory", fmt.Sprint(need), fmt.Sprint(limit), "ulimit -l", "LimitMEMLOCK=", "CAP_IPC_LOCK"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q does not say %q", err, says)
		}
	}
	k, err := d.Register(memory(b[:limit/2], "some memory"), 0, nil)
	ok(t, err)
	ok(t, d.Deregister(t.Context(), k))
	limited.Put32(0, 2) // the limit is not why
	if _, err = d.Register(memory(b[:limit/2], "some memory"), 0, nil); !errors.Is(err, unix.ENOMEM) || errors.As(err, &m) {
		t.Errorf("without memory: %v, want %v and nothing of the limit", err, unix.ENOMEM)
	}
	limited.Put32(0, 1)
	ok(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 0, Max: limit})) // which the kernel answers with EPERM
	if _, err = a.NewDomain(); !errors.As(err, &m) || m.Limit != 0 || m.Need == 0 || !errors.Is(err, unix.EPERM) {
		t.Errorf("a domain where nothing may be locked: %v, want what it needs, and the limit", err)
	}
	limited.Put32(0, 0)
}

// withoutLock runs a command that cannot have CAP_IPC_LOCK, whoever its user is. The thread that gives it up ends. Source:
// capabilities(7), the bounding set.
func withoutLock(cmd *exec.Cmd) (out []byte, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()                                           // and never unlocked
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_IPC_LOCK, 0, 0, 0) // EPERM: who may not drop it has it neither
		out, err = cmd.CombinedOutput()
	}()
	<-done
	return out, err
}

// TestLostPlacement asks the kernel where pages are that are said to have been elsewhere before. It needs one node only, and so shows
// no move: the lab's TestPlacement does.
func TestLostPlacement(t *testing.T) {
	page := os.Getpagesize()
	b := mapped(t, 4*page)
	for i := range 3 {
		b[i*page] = byte(i + 1) // the last one is not there
	}
	m := memory(b, "placed")
	pl := &places{base: m.Base, count: 4}
	for i := range 4 {
		pl.pages = append(pl.pages, unsafe.Add(m.Base, i*page))
	}
	var err error
	if pl.nodes, err = mempolicy.NodesOf(pl.pages); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if e := pl.moved(); e != nil {
		t.Fatalf("nothing moved, and it says %v", e)
	}
	now := pl.nodes[0]
	pl.nodes[1], pl.nodes[3] = now+1, now+1
	e := pl.moved()
	want := fmt.Sprintf("moved 1 of 4 pages that were looked at from node %d to node %d", now+1, now)
	if e == nil || !errors.Is(e, barewire.ErrPlacementLost) || !strings.Contains(e.Error(), want) || !strings.Contains(e.Error(), "--no-movable") {
		t.Fatalf("got %v, want %v, that says %q and what to do", e, barewire.ErrPlacementLost, want)
	}
	e.restore() // the node may not be there: then all stays as it is
	for i := range 3 {
		if b[i*page] != byte(i+1) {
			t.Errorf("the page %d has changed", i)
		}
	}
}
