package shm

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// hugePages sees to it that n huge pages of 2 MiB are free until the test ends. It skips the test where the kernel has
// none, and also where it may not be asked for them, except with CI=true: there they must be reserved before,
// as in sysctl vm.nr_hugepages=16.
func hugePages(t *testing.T, n int) {
	t.Helper()
	const dir = "/sys/kernel/mm/hugepages/hugepages-2048kB"
	number := func(name string) int {
		b, err := os.ReadFile(filepath.Join(dir, name))
		fatal(t, err)
		v, err := strconv.Atoi(strings.TrimSpace(string(b)))
		fatal(t, err)
		return v
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("this kernel has no huge pages of 2 MiB: %v", err)
	}
	free := func() int { return number("free_hugepages") - number("resv_hugepages") }
	if free() >= n {
		return
	}
	was := number("nr_hugepages")
	err := os.WriteFile(filepath.Join(dir, "nr_hugepages"), []byte(strconv.Itoa(was+n)), 0)
	t.Cleanup(func() { _ = os.WriteFile(filepath.Join(dir, "nr_hugepages"), []byte(strconv.Itoa(was)), 0) })
	if free() >= n {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%d huge pages of 2 MiB are free, and the test needs %d; reserving more: %v", free(), n, err)
	}
	t.Skipf("%d huge pages of 2 MiB are free, and the test needs %d; reserving more needs root and memory in one piece: %v", free(), n, err)
}

// hugeRegion registers a region in huge pages that the kernel has reserved.
func hugeRegion[A barewire.Registered](t *testing.T, dom *rdma.Domain, g barewire.Grant[sample.Tick, A]) *barewire.Region[sample.Tick, barewire.CPU, A] {
	t.Helper()
	r, err := barewire.New(sample.TickInCPU(), 1000, barewire.HugePages(), barewire.Named("huge"))
	fatal(t, err)
	mr, err := rdma.Register(dom, r, g)
	fatal(t, err)
	onHugePages(t, mr)
	return mr
}

func onHugePages[A barewire.Access](t *testing.T, r *barewire.Region[sample.Tick, barewire.CPU, A]) {
	t.Helper()
	h, _, err := barewire.Core(seal.Key(), r)
	fatal(t, err)
	if h.Huge() != region.HugeReserved {
		t.Errorf("the region's pages are %v, want huge ones that are reserved", h.Huge())
	}
}

func priceAt[A barewire.Access](t *testing.T, r *barewire.Region[sample.Tick, barewire.CPU, A], i int) (v float64) {
	t.Helper()
	fatal(t, barewire.With(r, func(w barewire.Window[sample.Tick, A]) error {
		v = sample.TickAt(w, i).Price()
		return nil
	}))
	return v
}

// TestHugePages registers regions in huge pages, imports them, reads and writes; and deregisters what a peer was given that
// is not trusted, so that the elements move to other huge pages.
func TestHugePages(t *testing.T) {
	hugePages(t, 6)
	ctx := within(t, 20*time.Second)
	a, b, ac, bc := typedPair(t, rdma.Config{Provider: wary{}})
	target, source := hugeRegion(t, a, sample.TickRemoteWrite()), hugeRegion(t, a, sample.TickRemoteRead())
	local := hugeRegion(t, b, sample.TickLocal())
	fatal(t, rdma.Offer(ctx, ac, "target", target))
	fatal(t, rdma.Offer(ctx, ac, "source", source))
	to, err := rdma.Import(ctx, bc, "target", sample.TickRemoteWrite())
	fatal(t, err)
	from, err := rdma.Import(ctx, bc, "source", sample.TickRemoteRead())
	fatal(t, err)

	fatal(t, barewire.With(source, func(w barewire.Window[sample.Tick, barewire.RemoteRead]) error {
		sample.TickAt(w, 999).SetPrice(4711)
		return nil
	}))
	op, err := rdma.Read(bc, local.Span(0, 1000), from)
	fatal(t, err)
	fatal(t, op.Wait(ctx))
	if got := priceAt(t, local, 999); got != 4711 {
		t.Errorf("read the price %v", got)
	}
	op, err = rdma.Write(bc, to, local.Span(0, 1000))
	fatal(t, err)
	fatal(t, op.Wait(ctx))
	if got := priceAt(t, target, 999); got != 4711 {
		t.Errorf("written was the price %v", got)
	}

	plain, err := rdma.Deregister(ctx, target)
	fatal(t, err)
	onHugePages(t, plain)
	if got := priceAt(t, plain, 999); got != 4711 {
		t.Errorf("after it was deregistered the price is %v", got)
	}
	fatal(t, plain.Close())
	fatal(t, source.Close())
	fatal(t, local.Close())
}
