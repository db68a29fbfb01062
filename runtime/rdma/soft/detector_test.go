//go:build race

package soft

import (
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// gone says that a scene's goroutine is done. The detector does not see who sets it and who looks: what the two
// goroutines do is one after the other, and for the detector nothing orders it.
var gone bool

//go:norace
func leaves() { gone = true }

// apart returns when the scene's goroutine is done.
//
//go:norace
func apart() {
	for !gone {
		time.Sleep(time.Millisecond)
	}
}

// scenes are programs of two goroutines, and whether they race.
var scenes = map[string]struct {
	races bool
	run   func(t *testing.T, a, b *end)
}{
	"a write, and the owner reads": {true, func(t *testing.T, a, b *end) {
		go func() { defer leaves(); a.post(a.to(b, rdma.VerbWrite, 1, 0, 8, 64)) }()
		apart()
		_ = b.mem[64]
	}},
	"a write, and the owner polls its queue and reads": {true, func(t *testing.T, a, b *end) {
		go func() { defer leaves(); a.post(a.to(b, rdma.VerbWrite, 1, 0, 8, 64)); a.want(1) }()
		apart()
		b.q.Poll(make([]rdma.Completion, 1))
		_ = b.mem[64]
	}},
	"a read, and the owner writes": {true, func(t *testing.T, a, b *end) {
		go func() { defer leaves(); a.post(a.to(b, rdma.VerbRead, 1, 0, 100, 64)) }()
		apart()
		b.mem[100] = 1
	}},
	"a write, and somebody changes its buffer": {true, func(t *testing.T, a, b *end) {
		go func() { defer leaves(); a.post(a.to(b, rdma.VerbWrite, 1, 0, 8, 64)) }()
		apart()
		a.mem[3] = 1
	}},
	"an atomic, and the owner reads": {true, func(t *testing.T, a, b *end) {
		go func() { defer leaves(); a.post(a.to(b, rdma.VerbFetchAdd, 1, 0, 0, 64)) }()
		apart()
		_ = b.mem[64]
	}},
	"a write, a message, and the owner reads when it has it": {false, func(t *testing.T, a, b *end) {
		receives := []rdma.ReceiveRequest{{ID: 9, Buf: b.seg(512, 8)}}
		if err := b.q.PostReceive(receives); err != nil {
			t.Fatal(err)
		}
		go func() { a.post(a.to(b, rdma.VerbWrite, 1, 0, 8, 64), a.to(b, rdma.VerbSend, 2, 0, 8, 0)) }()
		b.want(9)
		_, _ = b.mem[64], b.mem[512]
	}},
	"a write, an atomic on a flag, and the owner reads when it is set": {false, func(t *testing.T, a, b *end) {
		add := a.to(b, rdma.VerbFetchAdd, 2, 0, 0, 256)
		add.Operand = 1
		go func() { a.post(a.to(b, rdma.VerbWrite, 1, 0, 8, 64), add) }()
		for atomic.LoadUint64((*uint64)(unsafe.Pointer(&b.mem[256]))) == 0 {
			time.Sleep(time.Millisecond)
		}
		_ = b.mem[64]
	}},
	"reads, while the owner publishes by words": {false, func(t *testing.T, a, b *end) {
		go func() {
			defer leaves()
			for range 100 {
				a.post(a.to(b, rdma.VerbRead, 1, 0, 60, 64))
				a.want(1)
			}
		}()
		for range 100 {
			barewire.StoreWords(unsafe.Pointer(&b.mem[64]), make([]byte, 60))
		}
		apart()
	}},
	"writes, while the owner takes snapshots by words": {false, func(t *testing.T, a, b *end) {
		go func() {
			defer leaves()
			for range 100 {
				a.post(a.to(b, rdma.VerbWrite, 1, 0, 60, 64))
				a.want(1)
			}
		}()
		for range 100 {
			barewire.LoadWords(make([]byte, 60), unsafe.Pointer(&b.mem[64]))
		}
		apart()
	}},
	"deregistered, and the owner writes": {false, func(t *testing.T, a, b *end) {
		go func() { defer leaves(); a.post(a.to(b, rdma.VerbWrite, 1, 0, 8, 64)) }()
		apart()
		if err := b.dom.Deregister(t.Context(), b.keys); err != nil {
			t.Fatal(err)
		}
		b.mem[64] = 1
	}},
}

// TestDetector runs each scene in a process of its own, and reads what the race detector says.
func TestDetector(t *testing.T) {
	const scene = "BAREWIRE_SOFT_SCENE"
	if name := os.Getenv(scene); name != "" {
		a, b := connect(t, New(Config{}), 4096)
		scenes[name].run(t, a, b)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestDetector$")
			cmd.Env = append(os.Environ(), scene+"="+name)
			out, err := cmd.CombinedOutput()
			if raced := strings.Contains(string(out), "DATA RACE"); raced != s.races || !raced && err != nil {
				t.Errorf("reported a race: %v, want %v (%v)\n%s", raced, s.races, err, out)
			}
		})
	}
}
