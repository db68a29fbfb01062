//go:build lab

//barewire:trust tests make what is wrong
package cxl_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
)

// Of the blocks that two guests share each writes half.
const (
	sharedBlocks = 64
	half         = sharedBlocks / 2
	sharedStride = 64 + 256
	sharedAt     = 32 << 20 // in the device
)

// shareDevice opens the blocks, in the memory of the device.
func shareDevice(t *testing.T, role cxl.Role) *blocks {
	t.Helper()
	r, err := cxl.Share(t.Context(), placed.BlockInCXLShared(), sharedBlocks, role, cxl.Device("dax0.0"), cxl.Part(sharedAt, 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// link is how two guests tell each other where they are: lines.
type link struct {
	t     *testing.T
	conn  net.Conn
	lines *bufio.Scanner
}

// say tells the other guest something.
func (l *link) say(format string, args ...any) {
	l.t.Helper()
	if _, err := fmt.Fprintf(l.conn, format+"\n", args...); err != nil {
		l.t.Fatal(err)
	}
}

// hear waits for a line, which begins with a word, and takes the numbers behind it.
func (l *link) hear(word string, numbers ...any) {
	l.t.Helper()
	if !l.lines.Scan() {
		l.t.Fatalf("the other guest is gone, and %s was to come: %v", word, l.lines.Err())
	}
	rest, ok := strings.CutPrefix(l.lines.Text(), word)
	if !ok {
		l.t.Fatalf("the other guest says %q, and %s was to come", l.lines.Text(), word)
	}
	if _, err := fmt.Sscan(rest, numbers...); err != nil && len(numbers) > 0 {
		l.t.Fatalf("%q: %v", l.lines.Text(), err)
	}
}

// linked connects the guests; the second one dials.
func linked(t *testing.T, first bool) *link {
	t.Helper()
	const address = "10.99.0.1:7500"
	var c net.Conn
	var err error
	if first {
		ln, lerr := net.Listen("tcp", address)
		if lerr != nil {
			t.Fatal(lerr)
		}
		defer closed(t, ln)
		c, err = ln.Accept()
	} else {
		for range 600 {
			if c, err = net.Dial("tcp", address); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute))
	return &link{t: t, conn: c, lines: bufio.NewScanner(c)}
}

// TestLabGuests: two kernels share elements in the memory of one CXL device. What one publishes the other one reads; a writer that is killed half way, and what is
// older than it may be, are found; so are two writers, which no lock keeps apart here.
func TestLabGuests(t *testing.T) {
	if os.Getenv("BAREWIRE_TEST_SHARED") != "" {
		halfWriter(t)
		return
	}
	if os.Getenv("BAREWIRE_LAB_GUEST") == "1" {
		writingGuest(t, linked(t, true))
	} else {
		readingGuest(t, linked(t, false))
	}
}

// writingGuest is the first guest. See readingGuest, line by line.
func writingGuest(t *testing.T, other *link) {
	raw := rawShared(t)
	clear(raw) // of a run before
	w := shareDevice(t, cxl.Writer(0, half))
	other.say("cleared")
	for i := range half {
		seq, err := cxl.Publish(w, i, blockOf(uint64(100+i)))
		if err != nil {
			t.Fatal(err)
		}
		other.say("published %d", seq)
	}
	other.hear("published")
	var b placed.Block
	for i := half; i < sharedBlocks; i++ {
		if _, err := cxl.Snapshot(w, i, &b); err != nil || b != *blockOf(uint64(200 + i)) {
			t.Errorf("element %d of the other guest: %+v, %v", i, b, err)
		}
	}

	other.say("busy")
	for x := uint64(1000); x < 3000; x++ {
		if _, err := cxl.Publish(w, 1, blockOf(x)); err != nil {
			t.Fatal(err)
		}
	}
	other.say("rests")
	other.hear("read")

	// Older lines come back, as from a cache that was not dropped: the whole element, then half of it.
	old := string(raw[2*sharedStride : 3*sharedStride])
	seq, err := cxl.Publish(w, 2, blockOf(7))
	if err != nil {
		t.Fatal(err)
	}
	other.say("newer %d", seq)
	other.hear("read")
	newer := string(raw[2*sharedStride : 3*sharedStride])
	copy(raw[2*sharedStride:], old)
	other.say("older")
	other.hear("read")
	copy(raw[2*sharedStride:], newer[:64]+old[64:128]+newer[128:])
	other.say("mixed")
	other.hear("read")
	copy(raw[2*sharedStride:], newer)
	other.say("whole")
	other.hear("read")

	closed(t, w) // its elements are the child's
	cmd := again(t, "TestLabGuests", "BAREWIRE_TEST_SHARED=half")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 5)); err != nil {
		t.Fatalf("the writer: %v", err)
	}
	other.say("half")
	other.hear("read")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	other.say("killed")
	other.hear("read")
	w = shareDevice(t, cxl.Writer(0, half))
	if _, err := cxl.Publish(w, 3, blockOf(9)); err != nil {
		t.Fatal(err)
	}
	other.say("mended")
	other.hear("intruded")
	_, err = cxl.Publish(w, 3, blockOf(10))
	wrong(t, err, cxl.ErrTwoWriters, "element 3")
	other.say("done")
}

// readingGuest is the second one.
func readingGuest(t *testing.T, other *link) {
	other.hear("cleared")
	r := shareDevice(t, cxl.Writer(half, half))
	var b placed.Block
	_, err := cxl.Snapshot(r, half, &b)
	wrong(t, err, cxl.ErrUnpublished)
	var seq uint64
	for i := range half {
		other.hear("published", &seq)
		if got, err := cxl.SnapshotSince(r, i, &b, seq); err != nil || got != seq || b != *blockOf(uint64(100 + i)) {
			t.Errorf("element %d: %+v with sequence %d, %v", i, b, got, err)
		}
	}
	for i := half; i < sharedBlocks; i++ {
		if _, err := cxl.Publish(r, i, blockOf(uint64(200+i))); err != nil {
			t.Fatal(err)
		}
	}
	other.say("published")

	other.hear("busy")
	rests := make(chan bool)
	go func() { other.hear("rests"); close(rests) }()
	last, n, torn := uint64(0), 0, 0
	for busy := true; busy; {
		select {
		case <-rests:
			busy = false
		default:
		}
		seq, err := cxl.Snapshot(r, 1, &b)
		if errors.Is(err, cxl.ErrTorn) && busy { // it may never be at rest
			torn++
			continue
		}
		if err != nil || seq < last || b != *blockOf(b.Number) || b.Number < 1000 && b.Number != 101 {
			t.Errorf("sequence %d after %d, %v: %+v", seq, last, err, b)
		}
		last, n = seq, n+1
	}
	if b != *blockOf(2999) {
		t.Errorf("at rest it is %+v", b)
	}
	t.Logf("%d snapshots while the other guest published, %d of them torn for a second", n, torn)
	other.say("read")

	other.hear("newer", &seq)
	if _, err := cxl.SnapshotSince(r, 2, &b, seq); err != nil || b != *blockOf(7) {
		t.Errorf("%+v, %v", b, err)
	}
	_, err = cxl.SnapshotSince(r, 2, &b, seq+2)
	wrong(t, err, cxl.ErrStale, "element 2")
	other.say("read")
	other.hear("older")
	_, err = cxl.Snapshot(r, 2, &b)
	wrong(t, err, cxl.ErrStale, "element 2", "was seen")
	t.Log(err)
	other.say("read")
	other.hear("mixed")
	_, err = cxl.Snapshot(r, 2, &b)
	wrong(t, err, cxl.ErrStale, "element 2", "checksum")
	t.Log(err)
	other.say("read")
	other.hear("whole")
	if _, err = cxl.Snapshot(r, 2, &b); err != nil || b != *blockOf(7) {
		t.Errorf("%+v, %v", b, err)
	}
	other.say("read")

	for _, when := range []string{"half", "killed"} {
		other.hear(when)
		_, err = cxl.Snapshot(r, 3, &b)
		wrong(t, err, cxl.ErrTorn, "element 3")
		t.Log(when, err)
		other.say("read")
	}
	other.hear("mended")
	if _, err := cxl.Snapshot(r, 3, &b); err != nil || b != *blockOf(9) {
		t.Errorf("%+v, %v", b, err)
	}
	intruder := shareDevice(t, cxl.Writer(3, 1)) // its lock is of this kernel's
	if _, err := cxl.Publish(intruder, 3, blockOf(11)); err != nil {
		t.Error(err)
	}
	other.say("intruded")
	other.hear("done")
}

// rawShared maps the memory of the blocks as it is.
func rawShared(t *testing.T) []byte {
	t.Helper()
	fd, err := unix.Open("/dev/dax0.0", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	raw, err := unix.Mmap(fd, sharedAt, 2<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(raw) })
	return raw[:sharedBlocks*sharedStride]
}

// halfWriter stops in the midst of an element, until it is killed.
func halfWriter(t *testing.T) {
	w := shareDevice(t, cxl.Writer(0, half))
	cxl.Halfway(func() {
		fmt.Print("half\n")
		time.Sleep(time.Minute)
	})
	_, err := cxl.Publish(w, 3, blockOf(8))
	t.Fatalf("it was not killed: %v", err)
}
