package rdmatest

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var verbChecks = []check{
	{"write", func(t *testing.T, f *Factory) { checkTransfer(t, f, rdma.VerbWrite) }},
	{"read", func(t *testing.T, f *Factory) { checkTransfer(t, f, rdma.VerbRead) }},
	{"write-notify", checkWriteNotify},
	{"gather-scatter", checkSegments},
	{"large", checkLarge},
	{"compare-and-swap", checkCompareSwap},
	{"fetch-and-add", checkFetchAdd},
	{"atomics-contended", checkContended},
	{"flush", checkFlush},
}

// fill makes memory that is different everywhere.
func fill(b []byte, salt int) {
	for i := range b {
		b[i] = byte(i*7 + i>>8*13 + salt*29 + 1)
	}
}

// checkTransfer moves pieces of odd sizes between odd places, and looks at what is around them.
func checkTransfer(t *testing.T, f *Factory, verb rdma.Verb) {
	a, b := connect(t, f)
	from, to := &a.memory, &b.memory
	if verb == rdma.VerbRead {
		from, to = to, from
	}
	fill(from.mem, 1)
	want := bytes.Clone(to.mem)
	id := uint64(1)
	for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 15, 16, 24, 63, 64, 65, 1000, 4095, 4096, 4097, 20000} {
		for _, off := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {3, 5}, {8, 16}, {4, 12}, {sideBytes - n, sideBytes - n}} {
			src, dst := off[0], off[1]
			own, at := src, dst
			if verb == rdma.VerbRead {
				own, at = dst, src
			}
			a.do(op(verb, id, &a.memory, own, n, &b.memory, at), flush(id+1))
			copy(want[dst:dst+n], from.mem[src:])
			if !bytes.Equal(to.mem, want) {
				t.Fatalf("%v of %d bytes from %d to %d: the memory is not as it should be", verb, n, src, dst)
			}
			id += 2
		}
		clear(to.mem)
		clear(want)
	}
}

// checkWriteNotify writes with a notification, also of nothing.
func checkWriteNotify(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	fill(a.mem, 2)
	for i, n := range []int{1, 8, 100, 0, 9000} {
		id := uint64(i + 1)
		b.receive(id, 0, 16)
		wr := op(rdma.VerbWriteNotify, id, &a.memory, 0, n, &b.memory, 1024)
		wr.Imm = 0xfffffff0 + uint32(i)
		if n == 0 {
			wr.Segs, wr.Key = 0, 0
		}
		a.post(wr)
		c := b.done(id)
		if c.Verb != rdma.VerbNotify || c.Bytes != n || c.Imm != wr.Imm {
			t.Errorf("notified of %s, want %d bytes, imm %#x", text(c), n, wr.Imm)
		}
		if !bytes.Equal(b.mem[1024:1024+n], a.mem[:n]) {
			t.Errorf("the %d bytes were not there when the notification was", n)
		}
		if !bytes.Equal(b.mem[:16], make([]byte, 16)) {
			t.Error("the notification wrote to the receive's buffer")
		}
		a.done(id)
	}
}

// checkSegments gathers and scatters with as many segments as the device takes.
func checkSegments(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	fill(a.mem[:8192], 3)
	for segs := 1; segs <= a.ad.Limits().Segments; segs++ {
		wr := op(rdma.VerbWrite, 1, &a.memory, 0, 8, &b.memory, 3)
		wr.Segs = uint8(segs)
		var want []byte
		for i := range segs {
			wr.Local[i] = a.seg(i*1000+i, 5+i*11)
			want = append(want, a.mem[i*1000+i:][:5+i*11]...)
		}
		a.do(wr, flush(2))
		if !bytes.Equal(b.mem[3:3+len(want)], want) || b.mem[3+len(want)] != 0 {
			t.Errorf("a gather of %d segments did not arrive", segs)
		}
		back := wr
		back.ID, back.Verb = 3, rdma.VerbRead
		for i := range segs {
			back.Local[i] = a.seg(16384+i*1000, 5+i*11)
		}
		a.do(back)
		for i := range segs {
			if !bytes.Equal(a.mem[16384+i*1000:][:5+i*11], a.mem[i*1000+i:][:5+i*11]) {
				t.Errorf("segment %d of %d of a scatter is not as it should be", i, segs)
			}
		}
		b.receive(4, 32768, 4096)
		wr.ID, wr.Verb = 5, rdma.VerbSend
		a.do(wr)
		if c := b.done(4); c.Bytes != len(want) || !bytes.Equal(b.mem[32768:32768+len(want)], want) {
			t.Errorf("a message of %d segments did not arrive", segs)
		}
		clear(b.mem)
	}
}

// checkLarge moves some mebibytes in one request.
func checkLarge(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	const n = 4<<20 + 13
	size := min(n, a.ad.Limits().MaxTransfer)
	big, far := a.register(n, nobody), b.register(n, every)
	fill(big.mem, 4)
	a.do(op(rdma.VerbWrite, 1, &big, 0, size, &far, 0), flush(2))
	if !bytes.Equal(far.mem[:size], big.mem[:size]) {
		t.Error("a large write did not arrive")
	}
	clear(big.mem)
	a.do(op(rdma.VerbRead, 3, &big, 0, size, &far, 0))
	if !bytes.Equal(far.mem[:size], big.mem[:size]) {
		t.Error("a large read did not arrive")
	}
}

// little and putLittle access a word of a region as messages have it.
func little(b []byte) uint64       { return binary.LittleEndian.Uint64(b) }
func putLittle(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

func checkCompareSwap(t *testing.T, f *Factory) {
	if noAtomics(t, f, rdma.VerbCompareSwap) {
		return
	}
	a, b := connect(t, f)
	putLittle(b.mem[16:], 0x0102030405060708)
	for i, c := range []struct{ compare, with, before, after uint64 }{
		{0x0102030405060708, 7, 0x0102030405060708, 7},
		{8, 9, 7, 7},
		{7, 1<<64 - 1, 7, 1<<64 - 1},
		{1<<64 - 1, 0, 1<<64 - 1, 0},
	} {
		id := uint64(i + 1)
		a.post(word(rdma.VerbCompareSwap, id, &b.memory, 16, c.compare, c.with))
		if got := a.done(id).Result; got != c.before || little(b.mem[16:]) != c.after {
			t.Errorf("swapping %#x for %#x: found %#x, left %#x; want %#x and %#x", c.compare, c.with, got, little(b.mem[16:]), c.before, c.after)
		}
	}
}

func checkFetchAdd(t *testing.T, f *Factory) {
	if noAtomics(t, f, rdma.VerbFetchAdd) {
		return
	}
	a, b := connect(t, f)
	last := sideBytes - 8
	want := uint64(0x00000000ffffffff)
	putLittle(b.mem[last:], want)
	for i, by := range []uint64{1, 0, 1<<64 - 1, 1 << 63, 1 << 63, 12345} {
		id := uint64(i + 1)
		a.post(word(rdma.VerbFetchAdd, id, &b.memory, last, 0, by))
		if got := a.done(id).Result; got != want || little(b.mem[last:]) != want+by {
			t.Errorf("adding %#x: found %#x, left %#x; want %#x and %#x", by, got, little(b.mem[last:]), want, want+by)
		}
		want += by
	}
}

// checkContended adds from several queues and, where the device says that it may, from this processor too.
func checkContended(t *testing.T, f *Factory) {
	if f.NoAtomics != "" {
		t.Skipf("no atomics to contend: %s; fetch-and-add has them refused", f.NoAtomics)
	}
	a, b := connect(t, f)
	const queues, each = 3, 500
	var wg sync.WaitGroup
	for range queues {
		q, _ := join(t, a, b)
		s := &side{t: t, f: f, q: q, name: "adder"}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range uint64(each) {
				wr := word(rdma.VerbFetchAdd, i, &b.memory, 64, 0, 1)
				if n, err := s.q.Post([]rdma.WorkRequest{wr}); n != 1 {
					t.Errorf("post: %v", err)
					return
				}
				if c, err := take(s.q, patience); err != nil || c.Err != nil {
					t.Errorf("add: %v, %v", err, c.Err)
					return
				}
			}
		}()
	}
	want := uint64(queues * each)
	if a.ad.Limits().AtomicGlobal && binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		p := (*uint64)(unsafe.Pointer(&b.mem[64]))
		for range each {
			atomic.AddUint64(p, 1)
		}
		want += each
	}
	wg.Wait()
	if got := little(b.mem[64:]); got != want {
		t.Errorf("%d additions are left of %d", got, want)
	}
}

func checkFlush(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	a.do(flush(1)) // of nothing
	a.mem[0] = 9
	a.post(op(rdma.VerbWrite, 2, &a.memory, 0, 1, &b.memory, 0), flush(3))
	a.done(2)
	if c := a.done(3); c.Verb != rdma.VerbFlush || b.mem[0] != 9 {
		t.Errorf("after %s the write is not placed", text(c))
	}
}
