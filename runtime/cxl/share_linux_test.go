//barewire:trust tests make what is wrong
package cxl_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// sharing skips the test on processors that cannot share.
func sharing(t *testing.T) {
	t.Helper()
	_, err := cxl.Share(t.Context(), placed.BlockInCXLShared(), 1, cxl.Reader)
	if errors.Is(err, cxl.ErrNoFlush) {
		t.Skip(err)
	}
	wrong(t, err, cxl.ErrPart, "neither Device nor File")
}

// file is one of so many bytes.
func file(t *testing.T, n int64) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "shared")
	if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, n)); err != nil {
		t.Fatal(err)
	}
	return name
}

type blocks = placed.BlockCXLShared[barewire.Unregistered]

func share(t *testing.T, name string, n int, role cxl.Role) *blocks {
	t.Helper()
	r, err := cxl.Share(t.Context(), placed.BlockInCXLShared(), n, role, cxl.File(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func blockOf(x uint64) *placed.Block {
	b := &placed.Block{Number: x}
	for i := range b.Words {
		b.Words[i] = x
	}
	return b
}

// TestShare: elements of all kinds are read as they were published, by a region that cannot write.
func TestShare(t *testing.T) {
	sharing(t)
	name := file(t, 1<<20)
	w, r := share(t, name, 10, cxl.Writer(0, 5)), share(t, name, 10, cxl.Reader)
	if b, err := barewire.Backing(r); err != nil || b.Kind != barewire.InCXLShared || b.File {
		t.Errorf("%+v, %v", b, err)
	}
	var got placed.Block
	_, err := cxl.Snapshot(r, 4, &got)
	wrong(t, err, cxl.ErrUnpublished, "snapshot: region", "placed.Block", "element 4")
	for x := uint64(1); x < 5; x++ {
		seq, err := cxl.Publish(w, 4, blockOf(x))
		if err != nil || seq != 2*x {
			t.Fatalf("sequence %d, %v", seq, err)
		}
		if at, err := cxl.SnapshotSince(r, 4, &got, seq); err != nil || at != seq || got != *blockOf(x) {
			t.Errorf("%+v with sequence %d, %v", got, at, err)
		}
	}
	for i, c := range map[int]error{5: cxl.ErrNotWriter, 9: cxl.ErrNotWriter, 10: barewire.ErrRange, -1: barewire.ErrRange} {
		_, err := cxl.Publish(w, i, blockOf(1))
		wrong(t, err, c)
	}
	_, err = cxl.Publish(r, 0, blockOf(1))
	wrong(t, err, cxl.ErrNotWriter)
	_, err = cxl.PublishBytes(w, 0, make([]byte, 7))
	wrong(t, err, barewire.ErrRange, "7 bytes for an element of 256")
	_, err = cxl.Publish(w, 0, (*placed.Block)(nil))
	wrong(t, err, barewire.ErrNoValue)
	_, err = cxl.Snapshot[placed.Block](nil, 0, &got)
	wrong(t, err, barewire.ErrNoRegion)
	closed(t, r)
	_, err = cxl.Snapshot(r, 4, &got)
	wrong(t, err, barewire.ErrReleased)

	marks, err := cxl.Share(t.Context(), placed.MarkInCXLShared(), 3, cxl.Writer(0, 3), cxl.File(file(t, 4096)))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, marks)
	m := placed.Mark{At: 7, Kind: 3, Count: [4]byte{1, 2, 3, 4}}
	if _, err := cxl.Publish(marks, 2, &m); err != nil {
		t.Fatal(err)
	}
	var back placed.Mark
	if _, err := cxl.Snapshot(marks, 2, &back); err != nil || back != m {
		t.Errorf("%+v, %v", back, err)
	}
	labels, err := cxl.Share(t.Context(), placed.LabelInCXLShared(), 1, cxl.Writer(0, 1), cxl.File(file(t, 4096)))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, labels)
	name2 := placed.Label("heron")
	if _, err := cxl.Publish(labels, 0, &name2); err != nil {
		t.Fatal(err)
	}
	slot := make([]byte, 32)
	if _, err := cxl.SnapshotBytes(labels, 0, slot, 0); err != nil || string(slot) != "\x06\x00\x00\x00\x05heron"+string(make([]byte, 22)) {
		t.Errorf("%q, %v", slot, err)
	}
	var label placed.Label
	if _, err := cxl.Snapshot(labels, 0, &label); err != nil || label != "heron" {
		t.Errorf("%q, %v", label, err)
	}
	long := placed.Label(strings.Repeat("x", 100))
	_, err = cxl.Publish(labels, 0, &long)
	wrong(t, err, wire.ErrMax, "publish: region", "element 0", "#@max")
}

// TestShareRefused: what is not there to be shared.
func TestShareRefused(t *testing.T) {
	sharing(t)
	name := file(t, 4096)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	place := placed.BlockInCXLShared()
	for what, c := range map[string]struct {
		n    int
		role cxl.Role
		opts []cxl.Option
		is   error
	}{
		"too many":           {13, cxl.Reader, []cxl.Option{cxl.File(name)}, cxl.ErrPart},
		"none":               {0, cxl.Reader, []cxl.Option{cxl.File(name)}, barewire.ErrRange},
		"far too many":       {1 << 40, cxl.Reader, []cxl.Option{cxl.File(name)}, cxl.ErrPart},
		"behind the end":     {1, cxl.Reader, []cxl.Option{cxl.File(name), cxl.Part(8192, 0)}, cxl.ErrPart},
		"a small part":       {5, cxl.Reader, []cxl.Option{cxl.File(name), cxl.Part(0, 1024)}, cxl.ErrPart},
		"a pipe":             {1, cxl.Reader, []cxl.Option{cxl.File(pipe)}, cxl.ErrDevice},
		"a pipe, to write":   {1, cxl.Writer(0, 1), []cxl.Option{cxl.File(pipe)}, cxl.ErrDevice},
		"in a page":          {1, cxl.Reader, []cxl.Option{cxl.File(name), cxl.Part(64, 0)}, cxl.ErrPart},
		"no file":            {1, cxl.Reader, []cxl.Option{cxl.File(name + "x")}, cxl.ErrDevice},
		"a directory":        {1, cxl.Reader, []cxl.Option{cxl.File(filepath.Dir(name))}, cxl.ErrDevice},
		"both":               {1, cxl.Reader, []cxl.Option{cxl.File(name), cxl.Device("dax0.0")}, cxl.ErrPart},
		"a node":             {1, cxl.Reader, []cxl.Option{cxl.File(name), cxl.Node(0)}, cxl.ErrPart},
		"a writer of others": {2, cxl.Writer(1, 2), []cxl.Option{cxl.File(name)}, cxl.ErrPart},
		"a negative one":     {2, cxl.Writer(-1, 1), []cxl.Option{cxl.File(name)}, cxl.ErrPart},
		"no device":          {1, cxl.Reader, []cxl.Option{cxl.Device("dax9.9"), cxl.On(machine(t))}, cxl.ErrNoCXL},
		"a small device":     {size / 256, cxl.Reader, []cxl.Option{cxl.Device("dax0.0"), cxl.On(machine(t))}, cxl.ErrPart},
	} {
		_, err := cxl.Share(t.Context(), place, c.n, c.role, c.opts...)
		if !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", what, err, c.is)
		}
	}
	_, err := cxl.Share(t.Context(), barewire.Place[placed.Block, barewire.CXLShared]{}, 1, cxl.Reader)
	wrong(t, err, barewire.ErrNoPlace)
	dev, err := cxl.Share(t.Context(), place, 5, cxl.Writer(0, 5), cxl.Device("dax0.0"), cxl.On(machine(t)), cxl.Part(align, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cxl.Publish(dev, 4, blockOf(1)); err != nil {
		t.Error(err)
	}
	closed(t, dev)

	// Another schema's element, and a second writer.
	w := share(t, name, 12, cxl.Writer(0, 12))
	_, err = cxl.Share(t.Context(), place, 12, cxl.Writer(11, 1), cxl.File(name))
	wrong(t, err, cxl.ErrClaimed)
	if _, err := cxl.Publish(w, 0, blockOf(1)); err != nil {
		t.Fatal(err)
	}
	marks, err := cxl.Share(t.Context(), placed.MarkInCXLShared(), 3, cxl.Reader, cxl.File(name))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, marks)
	var m placed.Mark
	_, err = cxl.Snapshot(marks, 0, &m)
	wrong(t, err, cxl.ErrForeign)
}

// TestShareCut: memory that is no longer there, as of a file that is cut short, is an error that names region and element.
func TestShareCut(t *testing.T) {
	sharing(t)
	name := file(t, 4096)
	w := share(t, name, 12, cxl.Writer(0, 12))
	if _, err := cxl.Publish(w, 0, blockOf(1)); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	_, err := cxl.Publish(w, 0, blockOf(2))
	wrong(t, err, barewire.ErrMemory, "publish: region", "element 0", "cut short")
	_, err = cxl.Snapshot(w, 3, blockOf(0))
	wrong(t, err, barewire.ErrMemory, "snapshot: region", "element 3")
}

// TestShareBusy: readers beside a writer that never rests get whole elements, in order.
func TestShareBusy(t *testing.T) {
	sharing(t)
	name := file(t, 1<<16)
	w := share(t, name, 3, cxl.Writer(0, 3))
	if _, err := cxl.Publish(w, 1, blockOf(1)); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		r := share(t, name, 3, cxl.Reader)
		wg.Go(func() {
			last, n := uint64(0), 0
			for !stop.Load() {
				var b placed.Block
				seq, err := cxl.Snapshot(r, 1, &b)
				if errors.Is(err, cxl.ErrTorn) { // it may never be at rest
					continue
				}
				if err != nil || seq < last || b != *blockOf(b.Number) || b.Number != seq/2 {
					t.Errorf("sequence %d after %d, %v: %+v", seq, last, err, b)
					return
				}
				last, n = seq, n+1
			}
			t.Logf("%d snapshots", n)
		})
	}
	for x := uint64(2); x < 20000; x++ {
		if _, err := cxl.Publish(w, 1, blockOf(x)); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	wg.Wait()
}

// TestShareHalfway: a writer in another process is killed in the midst of an element. Readers say that, another writer goes on, and what it
// publishes is whole.
func TestShareHalfway(t *testing.T) {
	sharing(t)
	if name := os.Getenv("BAREWIRE_TEST_SHARED"); name != "" {
		writer(t, name)
		return
	}
	name := file(t, 1<<16)
	r := share(t, name, 4, cxl.Reader)
	cmd := again(t, "TestShareHalfway", "BAREWIRE_TEST_SHARED="+name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	if _, err := io.ReadFull(out, make([]byte, 5)); err != nil {
		t.Fatalf("the writer: %v", err)
	}
	var b placed.Block
	if _, err := cxl.Snapshot(r, 0, &b); err != nil || b != *blockOf(1) {
		t.Errorf("what it wrote before: %+v, %v", b, err)
	}
	_, err = cxl.Share(t.Context(), placed.BlockInCXLShared(), 4, cxl.Writer(0, 1), cxl.File(name))
	wrong(t, err, cxl.ErrClaimed)
	_, err = cxl.Snapshot(r, 1, &b)
	wrong(t, err, cxl.ErrTorn, "element 1: its sequence is 3")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	_, err = cxl.Snapshot(r, 1, &b)
	wrong(t, err, cxl.ErrTorn)
	w := share(t, name, 4, cxl.Writer(0, 4))
	if _, err := cxl.Publish(w, 1, blockOf(9)); err != nil {
		t.Fatal(err)
	}
	if seq, err := cxl.Snapshot(r, 1, &b); err != nil || b != *blockOf(9) || seq != 4 {
		t.Errorf("%+v with sequence %d, %v", b, seq, err)
	}
}

// again is one of these tests in another process, with something more in its environment. BAREWIRE_TEST_EMULATOR is what runs it on a machine
// that is not what it is built for.
func again(t *testing.T, test string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := append(strings.Fields(os.Getenv("BAREWIRE_TEST_EMULATOR")), exe, "-test.run=^"+test+"$")
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// writer publishes two elements, and stops in the midst of the second one's next.
func writer(t *testing.T, name string) {
	w := share(t, name, 4, cxl.Writer(0, 4))
	for i := range 2 {
		if _, err := cxl.Publish(w, i, blockOf(1)); err != nil {
			t.Fatal(err)
		}
	}
	cxl.Halfway(func() {
		fmt.Print("half\n")
		time.Sleep(time.Minute)
	})
	_, err := cxl.Publish(w, 1, blockOf(2))
	t.Fatalf("it was not killed: %v", err)
}
