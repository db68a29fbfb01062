//go:build !race

package region

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// mappings counts this process's mappings of memory files, and all of them.
func mappings(t *testing.T) (files, all int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("memfd:barewire:")), bytes.Count(b, []byte("\n"))
}

func descriptors(t *testing.T) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

// TestNothingLeaks: descriptors and mappings are as many after many regions as
// after the first, and what stays reserved is bounded.
func TestNothingLeaks(t *testing.T) {
	use := func() {
		a := newRegion(t, Spec{Type: ticks, Count: 100})
		b, err := a.Sibling()
		if err != nil {
			t.Fatal(err)
		}
		bytesOf(a)[0] = 1
		mustClose(t, b)
		mustClose(t, a)
	}
	use()
	fds := descriptors(t)
	files, all := mappings(t)
	for range 3 * graveyardSpans {
		use()
	}
	if n := descriptors(t); n > fds { // fewer where what others forgot was collected
		t.Errorf("%d descriptors, %d before", n, fds)
	}
	f, a := mappings(t)
	if f > files {
		t.Errorf("%d mappings of files, %d before", f, files)
	}
	if a > all+graveyardSpans+20 {
		t.Errorf("%d mappings, %d before", a, all)
	}
	if n := len(graveyard.spans); n > graveyardSpans {
		t.Errorf("%d ranges are kept", n)
	}
}

// TestGraveyardIsBounded in bytes too.
func TestGraveyardIsBounded(t *testing.T) {
	var y yard
	for range 4 {
		if out := y.bury(span{nil, graveyardBytes / 4}); len(out) != 0 {
			t.Errorf("%d of a quarter each", len(out))
		}
	}
	if out := y.bury(span{nil, graveyardBytes / 2}); len(out) != 2 {
		t.Errorf("a half took the place of %d quarters", len(out))
	}
	if out := y.bury(span{nil, graveyardBytes + 1}); len(out) != 4 || len(y.spans) != 0 || y.bytes != 0 {
		t.Errorf("one that is too large is kept: %d, %d", len(out), y.bytes)
	}
}

// TestFile: the memory is a file's, of its size for good, which other mappings see, and no
// program that this one starts inherits.
func TestFile(t *testing.T) {
	h := newRegion(t, Spec{Type: ticks, Count: 100})
	defer mustClose(t, h)
	_, n, get := h.Memory()
	f, off, err := get()
	if err != nil || off != 0 || h.NoFile() != nil {
		t.Fatal(err)
	}
	st, err := f.Stat()
	if err != nil || st.Size() != int64(n) {
		t.Fatalf("the file has %d bytes, the memory %d (%v)", st.Size(), n, err)
	}
	if err := f.Truncate(0); !errors.Is(err, unix.EPERM) {
		t.Errorf("making it smaller: %v", err)
	}
	if err := f.Truncate(int64(2 * n)); !errors.Is(err, unix.EPERM) {
		t.Errorf("making it larger: %v", err)
	}
	// A peer that may write the file must not be able to forbid it to the others.
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE); !errors.Is(err, unix.EPERM) {
		t.Errorf("sealing it against writing: %v", err)
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("inherited by programs: %x, %v", flags, err)
	}
	other, err := unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(other)
	bytesOf(h)[n-1] = 9
	if other[n-1] != 9 {
		t.Error("another mapping has other memory")
	}
	if err := h.Share(); err != nil || h.Base() == nil {
		t.Errorf("sharing what is shared: %v", err)
	}
}

// TestMemfdNames looks for the names of regions where the system shows them: clean, bounded, and never
// in the way of having memory.
func TestMemfdNames(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"", "barewire:test.Tick"},
		{"blocks of model 7", "barewire:blocks of model 7"},
		{"a\x00b\nc\x1b[2J/../\xff\u202e", "barewire:a?b?c?[2J/../??"},
		{strings.Repeat("é", 200), "barewire:" + strings.Repeat("é", 120)},
		{strings.Repeat("x", 1<<16), "barewire:" + strings.Repeat("x", 240)},
	} {
		h := newRegion(t, Spec{Type: ticks, Count: 1, Name: test.name})
		if err := h.NoFile(); err != nil {
			t.Errorf("%.20q: no file: %v", test.name, err)
			continue
		}
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(maps, []byte("/memfd:"+test.want+" (deleted)\n")) {
			t.Errorf("%.20q: no memfd:%s in\n%s", test.name, test.want, maps)
		}
		mustClose(t, h)
	}
}

// TestRenew: who has kept a mapping of memory that was renewed reaches it no more, to read or to write.
func TestRenew(t *testing.T) {
	h := newRegion(t, Spec{Type: ticks, Count: 1000, Name: "renewed"})
	defer mustClose(t, h)
	keep := func() []byte {
		_, n, file := h.Memory()
		f, _, err := file()
		if err != nil {
			t.Fatal(err)
		}
		b, err := unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Munmap(b) })
		return b
	}
	peer := keep()
	bytesOf(h)[7] = 7
	if err := h.Renew(); err != nil {
		t.Fatal(err)
	}
	if peer[7] = 8; bytesOf(h)[7] != 8 {
		t.Fatal("memory that nobody was shown is renewed")
	}
	h.Expose()
	sib, err := h.Sibling()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Renew(); !errors.Is(err, ErrShared) {
		t.Errorf("renewing memory that has siblings: %v", err)
	}
	mustClose(t, sib)
	before := descriptors(t)
	for range 3 {
		if err := h.Renew(); err != nil {
			t.Fatal(err)
		}
	}
	if n := descriptors(t); n != before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
	if got := bytesOf(h)[7]; got != 8 {
		t.Errorf("what was in it is %d now", got)
	}
	peer[7] = 66
	if got := bytesOf(h)[7]; got != 8 {
		t.Errorf("who has kept a mapping writes to it: %d", got)
	}
	if bytesOf(h)[8] = 9; peer[8] == 9 {
		t.Error("who has kept a mapping reads it")
	}
	if again := keep(); again[8] != 9 {
		t.Error("its file is another's")
	}
}

// TestShare gives memory that has no file one, with what is in it.
func TestShare(t *testing.T) {
	for name, get := range map[string]func(ask) (memory, error){
		"heap": func(a ask) (memory, error) { return fromHeap(a, errRaceHeap) },
		"anonymous": func(a ask) (memory, error) {
			return mapAnonymous(a, errRaceHeap)
		},
	} {
		h := newRegion(t, Spec{Type: ticks, Count: 100})
		if err := h.block.mem.release(); err != nil {
			t.Fatal(err)
		}
		m, err := get(h.block.ask())
		if err != nil {
			t.Fatal(err)
		}
		h.block.mem = m
		for i, b := 0, bytesOf(h); i < len(b); i++ {
			b[i] = byte(i)
		}
		if _, _, file := h.Memory(); h.NoFile() == nil {
			t.Error("it has a file already")
		} else if _, _, err := file(); err == nil || !strings.Contains(err.Error(), "has no file: under the race detector") {
			t.Errorf("%s: file: %v", name, err)
		}
		gen, err := h.Advance(FirstGen, Moved)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Share(); err != nil {
			t.Fatal(err)
		}
		for i, x := range bytesOf(h)[:6400] {
			if x != byte(i) {
				t.Fatalf("%s: byte %d is %d", name, i, x)
			}
		}
		if h.NoFile() != nil {
			t.Errorf("%s: no file: %v", name, h.NoFile())
		}
		if err := h.Close(gen); err != nil {
			t.Error(err)
		}
	}
}

// TestHuge: huge pages are a wish, and what it came to is told.
func TestHuge(t *testing.T) {
	h := newRegion(t, Spec{Type: ticks, Count: 1000, Huge: true})
	defer mustClose(t, h)
	_, n, _ := h.Memory()
	switch h.Huge() {
	case HugeReserved:
		if n != hugePage || uintptr(h.Base())%hugePage != 0 {
			t.Errorf("reserved: %d bytes at %p", n, h.Base())
		}
	case HugeAdvised:
		if n != 64*1024 && n > hugePage || uintptr(h.Base())%hugePage != 0 {
			t.Errorf("advised: %d bytes at %p", n, h.Base())
		}
	case NotHuge:
		t.Log("this kernel makes no huge pages")
	}
	bytesOf(h)[n-1] = 1
	if h := newRegion(t, Spec{Type: ticks, Count: 1}); h.Huge() != NotHuge {
		t.Error("huge without being asked for")
	} else {
		mustClose(t, h)
	}
}

// TestHugePolicy: where the kernel makes pages huge of memory without a file only, memory that is to have some is such, says so, and gets a file
// when it is shared; where it makes none at all the memory does not say that it has some.
func TestHugePolicy(t *testing.T) {
	is := func(v string) platform.Fact[string] { return platform.Fact[string]{Value: v, From: "a/policy"} }
	old := transparent
	t.Cleanup(func() { transparent = old })
	for _, c := range []struct {
		own, files platform.Fact[string]
		file       bool
		huge       Huge
	}{
		{is("madvise"), is("never"), false, HugeAdvised},
		{is("always"), is("deny"), false, HugeAdvised},
		{is("never"), is("never"), true, NotHuge},
		{is("never"), is("advise"), true, HugeAdvised},
		{is("madvise"), is("within_size"), true, HugeAdvised},
		{platform.Fact[string]{}, platform.Fact[string]{}, true, HugeAdvised}, // nobody says, so the kernel is asked
	} {
		transparent = func() (own, files platform.Fact[string]) { return c.own, c.files }
		prepared := 0
		h := newRegion(t, Spec{Type: ticks, Count: 5 * hugePage / 64 / 2, Huge: true, Prepare: func(unsafe.Pointer, uintptr) error { prepared++; return nil }})
		if h.Huge() == HugeReserved {
			mustClose(t, h)
			t.Skip("this machine has reserved huge pages")
		}
		if h.Huge() != c.huge || (h.NoFile() == nil) != c.file || uintptr(h.Base())%hugePage != 0 || prepared != 1 {
			t.Errorf("%v, %v: huge %v, no file: %v, at %p, prepared %d times", c.own, c.files, h.Huge(), h.NoFile(), h.Base(), prepared)
		}
		if !c.file && !strings.Contains(h.NoFile().Error(), "a/policy is "+c.files.Value) {
			t.Errorf("it has no file: %v", h.NoFile())
		}
		b := bytesOf(h)
		b[0], b[len(b)-1] = 1, 2
		if err := h.Share(); err != nil {
			t.Fatal(err)
		}
		if b := bytesOf(h); b[0] != 1 || b[len(b)-1] != 2 || h.NoFile() != nil || h.Huge() == HugeAdvised && filesNever(c.files) {
			t.Errorf("%v, %v: shared it has %d and %d, huge %v, no file: %v", c.own, c.files, b[0], b[len(b)-1], h.Huge(), h.NoFile())
		}
		mustClose(t, h)
	}
}

// TestHugeHere: on this machine, memory that says it has no huge pages has none, as the kernel counts them. It need not have some where it is advised.
func TestHugeHere(t *testing.T) {
	own, files := platform.TransparentHugePages(os.DirFS("/"))
	h := newRegion(t, Spec{Type: ticks, Count: 16 * hugePage / 64, Huge: true})
	defer mustClose(t, h)
	b := bytesOf(h)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	counted := ""
	base := fmt.Sprintf("%x-", uintptr(h.Base()))
	if _, rest, ok := strings.Cut("\n"+string(smaps), "\n"+base); ok {
		for line := range strings.Lines(rest) {
			if key, v, _ := strings.Cut(line, ":"); key == "AnonHugePages" || key == "ShmemPmdMapped" {
				if v = strings.TrimSpace(v); v != "0 kB" {
					counted += " " + key + " " + v
				}
			}
			if strings.HasPrefix(line, "VmFlags") {
				break
			}
		}
	}
	t.Logf("THP %v, of files %v: the region says %v, the kernel counts%s", own, files, h.Huge(), counted)
	if h.Huge() == NotHuge && counted != "" {
		t.Errorf("it says that it has no huge pages, and the kernel counts%s", counted)
	}
}

// The tests below run this test program again to do what it might not survive.

const whatKey = "BAREWIRE_REGION_TEST"

func child(t *testing.T, what string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), whatKey+"="+what)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// TestChild does what the environment says.
func TestChild(t *testing.T) {
	switch what := os.Getenv(whatKey); what {
	case "":
		return
	case "few descriptors":
		fewDescriptors(t)
	default:
		h := newRegion(t, Spec{Type: ticks, Count: 64})
		base, n, _ := h.Memory()
		b := unsafe.Slice((*byte)(base), n)
		b[n-1] = 1
		if what == "closed" {
			mustClose(t, h)
			fmt.Println("now read", what)
			fmt.Println("read", b[8])
			return
		}
		off, err := strconv.Atoi(what)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("now read", what)
		fmt.Println("read", *(*byte)(unsafe.Add(base, off)))
	}
}

// TestFaults: memory of a closed region, and what lies beside a region's, faults.
func TestFaults(t *testing.T) {
	for _, what := range []string{"closed", "-1", "4096", "8191"} {
		out := child(t, what)
		if !strings.Contains(out, "now read "+what) || !strings.Contains(out, "SIGSEGV") || strings.Contains(out, "\nread ") {
			t.Errorf("%s:\n%s", what, out)
		}
	}
	if out := child(t, "4095"); !strings.Contains(out, "read 1") {
		t.Errorf("the last byte:\n%s", out)
	}
}

// TestFewDescriptors: a process that is out of descriptors still gets memory,
// which says why it has no file.
func TestFewDescriptors(t *testing.T) {
	if out := child(t, "few descriptors"); !strings.Contains(out, "--- PASS") {
		t.Error(out)
	}
}

func fewDescriptors(t *testing.T) {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	lim.Cur = 3
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	h, err := New(Spec{Type: ticks, Count: 10})
	if err != nil {
		t.Fatal(err)
	}
	bytesOf(h)[100] = 1
	if why := h.NoFile(); !errors.Is(why, unix.EMFILE) {
		t.Errorf("it has no file because of %v", why)
	}
	if err := h.Share(); !errors.Is(err, ErrNoMemory) || !strings.Contains(err.Error(), "no file for its memory") {
		t.Errorf("sharing it: %v", err)
	}
	mustClose(t, h)
	// As much as there is of nothing.
	lim.Cur = 1 << 30
	if err := unix.Setrlimit(unix.RLIMIT_AS, &lim); err == nil {
		// Half a petabyte, or 32 MiB on machines of 32 bits, whose limit is lower.
		_, err := New(Spec{Type: ticks, Count: math.MaxInt / 4096})
		if !errors.Is(err, ErrNoMemory) || !strings.Contains(err.Error(), "cannot allocate memory") {
			t.Errorf("more than the limit: %v", err)
		}
	}
}
