//go:build !lab && (amd64 || arm64)

package verbs

import (
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// pair is two connected queues of a provider, and requests that write 8 bytes.
type pair struct {
	a, b rdma.Queue
	wrs  [32]rdma.WorkRequest
	out  [32]rdma.Completion
}

func connect(t testing.TB, p *Provider) *pair {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	x := &pair{}
	var doms [2]rdma.ProtectionDomain
	var keys [2]rdma.Keys
	var base [2]unsafe.Pointer
	for i := range doms {
		a, err := p.Open(t.Context(), "", &rdma.Config{Depth: 64, Credits: 64})
		must(err)
		t.Cleanup(func() { must(a.Close()) })
		doms[i], err = a.NewDomain()
		must(err)
		h, err := iregion.New(iregion.Spec{Type: &iregion.Type{Name: "Bytes", Size: 1, Align: 64}, Count: 4096})
		must(err)
		t.Cleanup(func() { must(doms[i].Close()); must(h.Close(h.Gen())) })
		base[i], _, _ = h.Memory()
		keys[i], err = doms[i].Register(rdma.Memory{Base: base[i], Len: 4096, Name: "some memory"}, iregion.Write, nil)
		must(err)
	}
	l, err := doms[1].Listen(t.Context(), "")
	must(err)
	defer l.Close()
	accepted := make(chan error, 1)
	go func() {
		var err error
		x.b, err = l.Accept(t.Context(), func([]byte) ([]byte, error) { return []byte("hello"), nil })
		accepted <- err
	}()
	x.a, err = doms[0].Dial(t.Context(), l.Addr(), []byte("hello"))
	must(err)
	must(<-accepted)
	must(x.a.Prepare(t.Context(), keys[1].R, keys[1].Epoch))
	for i := range x.wrs {
		x.wrs[i] = rdma.WorkRequest{ID: uint64(i), Verb: rdma.VerbWrite, Segs: 1, Key: keys[1].R, Epoch: keys[1].Epoch, Addr: keys[1].Addr}
		x.wrs[i].Local[0] = rdma.Segment{Ptr: base[0], Len: 8, Key: keys[0].L}
	}
	return x
}

// run posts n requests and polls until they have completed.
func (x *pair) run(t testing.TB, n int) {
	if took, err := x.a.Post(x.wrs[:n]); took != n {
		t.Fatal(err)
	}
	for got := 0; got < n; {
		k := x.a.Poll(x.out[:n])
		for i := range x.out[:k] {
			if x.out[i].Err != nil {
				t.Fatal(x.out[i].Err)
			}
		}
		got += k
	}
}

// TestAllocations wants none on the data path.
func TestAllocations(t *testing.T) {
	x := connect(t, fake(t))
	for _, n := range []int{1, 32} {
		x.run(t, n)
		if allocs := testing.AllocsPerRun(200, func() { x.run(t, n) }); allocs != 0 {
			t.Errorf("%d posted and polled allocates %v times, want none", n, allocs)
		}
	}
}

// BenchmarkPath is the path of this package over a device that completes at once, beside bare calls of C functions.
// The module bench has the proportions that are wanted.
func BenchmarkPath(b *testing.B) {
	path := filepath.Join(b.TempDir(), "libinstant.so")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-O2", "-Wl,-Bsymbolic", "-DINSTANT", "-o", path, "testdata/fake.c").CombinedOutput(); err != nil {
		b.Skipf("this needs a C compiler and the headers of rdma-core: %v: %s", err, out)
	}
	l, err := dl.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	nothing, err := l.Func("fake_nothing", "")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("a bare call", func(b *testing.B) {
		args := []uintptr{1, 2, 3}
		for b.Loop() {
			dl.Fast(nothing, args)
		}
	})
	x := connect(b, New(Options{Library: path}))
	b.Run("post one, poll one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x.run(b, 1)
		}
	})
	b.Run("post 32, poll 32", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x.run(b, 32)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/32, "ns/request")
	})
}
