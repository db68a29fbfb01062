package shm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Tests with a second process run this test binary again, with what it is to
// do and where to dial in the environment.
const (
	helperRole = "BAREWIRE_SHM_ROLE"
	helperAddr = "BAREWIRE_SHM_ADDR"
	helperOps  = "BAREWIRE_SHM_OPS" // operations of the long exchange; a few by default
)

func TestMain(m *testing.M) {
	role := os.Getenv(helperRole)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := help(role, os.Getenv(helperAddr)); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// remoteKey is what the sides tell each other in their hellos.
func remoteKey(k rdma.Keys) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(k.R))
	b = binary.LittleEndian.AppendUint32(b, k.Epoch)
	return binary.LittleEndian.AppendUint64(b, k.Addr)
}

func parseKey(b []byte) (k rdma.Keys, err error) {
	if len(b) != 16 {
		return k, fmt.Errorf("a hello of %d bytes", len(b))
	}
	return rdma.Keys{R: rdma.RKey(binary.LittleEndian.Uint32(b)), Epoch: binary.LittleEndian.Uint32(b[4:]),
		Addr: binary.LittleEndian.Uint64(b[8:])}, nil
}

// end is a side in a process of its own, and the key of the other.
type end struct {
	dom  *domain
	q    *queue
	mem  rdma.Memory
	k    rdma.Keys
	peer rdma.Keys
}

func (e *end) wr(v rdma.Verb, id uint64, off, n, at int) rdma.WorkRequest {
	wr := rdma.WorkRequest{ID: id, Verb: v, Key: e.peer.R, Epoch: e.peer.Epoch, Addr: e.peer.Addr + uint64(at)}
	wr.Segs, wr.Local[0] = 1, e.seg(off, n)
	return wr
}

func (e *end) seg(off, n int) rdma.Segment {
	s := side{mem: e.mem, k: e.k}
	return s.seg(off, n)
}

const endBytes = 1 << 20

func newEnd(cfg *rdma.Config) (*end, error) {
	d, err := newAdapter(cfg).NewDomain()
	if err != nil {
		return nil, err
	}
	e := &end{dom: d.(*domain)}
	if e.mem, _, err = allocate(endBytes); err != nil {
		return nil, err
	}
	e.k, err = e.dom.Register(e.mem, all, nil)
	return e, err
}

func (e *end) dial(addr string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	q, err := e.dom.Dial(ctx, addr, remoteKey(e.k))
	if err != nil {
		return err
	}
	e.q = q.(*queue)
	e.peer, err = parseKey(e.q.hello)
	return err
}

func (e *end) next(ctx context.Context) (c rdma.Completion, err error) {
	var out [1]rdma.Completion
	for e.q.Poll(out[:]) == 0 {
		if err := e.q.Wait(ctx); err != nil {
			return c, err
		}
	}
	return out[0], nil
}

// help is the second process. It says "ready" when it is where it should be,
// and is then killed or stopped, unless it ends by itself.
func help(role, addr string) error {
	switch role {
	case "silent", "greeter":
		return helpRaw(role, addr)
	case "listening":
		_, err := net.Listen("unix", addr)
		ready()
		forget()
		return err
	}
	if act := programs[role]; act != nil {
		return act(addr)
	}
	e, err := newEnd(&rdma.Config{Mode: rdma.Adaptive})
	if err != nil {
		return err
	}
	if role != "exchange" {
		copy(bytesOf(e.mem), "memory of the helper")
	}
	if err := e.dial(addr); err != nil {
		return err
	}
	if role == "exchange" {
		return e.exchange(opsToExchange(), 2)
	}
	for _, known := range []map[string]func(e *end) error{roles, answers} {
		if act := known[role]; act != nil {
			return act(e)
		}
	}
	return errors.New("no such role")
}

// programs are the helpers that use package rdma.
var programs = map[string]func(addr string) error{"writer": writer, "lacking": lacking, "far": far}

func ready() { fmt.Println("ready") }

// forget stays as it is until it is killed.
func forget() { time.Sleep(time.Hour) }

// roles are the states in which the helper is killed and stopped.
var roles = map[string]func(e *end) error{
	"connected": func(e *end) error { ready(); forget(); return nil },
	"prepared": func(e *end) error {
		if err := e.q.Prepare(context.Background(), e.peer.R, e.peer.Epoch); err != nil {
			return err
		}
		ready()
		forget()
		return nil
	},
	"waiting": func(e *end) error {
		err := e.q.PostReceive([]rdma.ReceiveRequest{{Buf: e.seg(0, 64)}})
		ready()
		return errors.Join(err, e.q.Wait(context.Background()), errors.New("woken"))
	},
	"writing": func(e *end) error {
		return e.forever(func(id uint64) rdma.WorkRequest { return e.wr(rdma.VerbWrite, id, 0, endBytes, 0) })
	},
	"reading": func(e *end) error {
		return e.forever(func(id uint64) rdma.WorkRequest { return e.wr(rdma.VerbRead, id, endBytes/2, endBytes/2, 0) })
	},
	"adding": func(e *end) error {
		return e.forever(func(id uint64) rdma.WorkRequest { return e.wr(rdma.VerbFetchAdd, id, 0, 8, 0) })
	},
	"sending": func(e *end) error {
		return e.forever(func(id uint64) rdma.WorkRequest { return e.wr(rdma.VerbSend, id, 0, 2000, 0) })
	},
	// inside has begun an access and does not end it until it is continued.
	"inside": func(e *end) error {
		if err := e.q.Prepare(context.Background(), e.peer.R, e.peer.Epoch); err != nil {
			return err
		}
		e.q.mu.Lock()
		e.q.access++
		e.q.ownAccess.Store(e.q.access)
		ready()
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(200 * time.Millisecond) // this thread may go on for a moment
		e.q.access++
		e.q.ownAccess.Store(e.q.access)
		e.q.mu.Unlock()
		forget()
		return nil
	},
}

// forever posts the same operation again and again.
func (e *end) forever(next func(id uint64) rdma.WorkRequest) error {
	for id := uint64(0); ; id++ {
		if _, err := e.q.Post([]rdma.WorkRequest{next(id)}); err != nil {
			return err
		}
		if id == 0 {
			ready()
		}
		c, err := e.next(context.Background())
		if err = errors.Join(err, c.Err); err != nil {
			return err
		}
	}
}

// helpRaw connects and leaves the handshake undone.
func helpRaw(role, addr string) error {
	c, err := net.Dial(network, addr)
	if err != nil {
		return err
	}
	if role == "greeter" {
		s, err := newSocket(c.(*net.UnixConn))
		if err != nil {
			return err
		}
		d := newDomain(newAdapter(nil))
		own, fd, err := newOutbox(d.a.layout)
		if err != nil {
			return err
		}
		_, bell, err := newBells()
		if err != nil {
			return err
		}
		if err := d.greet(s, kindHello, own, make([]byte, 16), fd, bell); err != nil {
			return err
		}
	}
	ready()
	forget()
	return nil
}

// helper is the second process, seen from the first.
type helper struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

func startHelper(t testing.TB, role, addr string, env ...string) *helper {
	t.Helper()
	exe, err := os.Executable()
	fatal(t, err)
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(append(os.Environ(), helperRole+"="+role, helperAddr+"="+addr), env...)
	var says bytes.Buffer
	cmd.Stderr = &says
	out, err := cmd.StdoutPipe()
	fatal(t, err)
	fatal(t, cmd.Start())
	h := &helper{cmd, bufio.NewReader(out)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the helper said: %s", says.String())
		}
	})
	return h
}

// ready waits until the helper is where it should be.
func (h *helper) ready(t testing.TB) {
	t.Helper()
	if line, err := h.out.ReadString('\n'); strings.TrimSpace(line) != "ready" {
		t.Fatalf("the helper says %q, %v", line, err)
	}
}

func (h *helper) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	fatal(t, h.cmd.Process.Signal(s))
}

// stopped waits until the helper is stopped.
func (h *helper) stopped(t testing.TB) {
	t.Helper()
	for range 5000 {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", h.cmd.Process.Pid))
		fatal(t, err)
		if _, rest, _ := strings.Cut(string(b), ") "); strings.HasPrefix(rest, "T") {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the helper does not stop")
}

// withHelper connects to a helper.
func withHelper(t testing.TB, role string) (*end, *helper) {
	t.Helper()
	e, err := newEnd(nil)
	fatal(t, err)
	e.dom.a.letGo = 300 * time.Millisecond
	t.Cleanup(func() { _ = e.dom.a.Close() })
	ln, err := e.dom.Listen(within(t, patience), address())
	fatal(t, err)
	defer ln.Close()
	h := startHelper(t, role, ln.Addr())
	q, err := ln.Accept(within(t, 20*time.Second), func([]byte) ([]byte, error) { return remoteKey(e.k), nil })
	fatal(t, err)
	e.q = q.(*queue)
	e.peer, err = parseKey(e.q.hello)
	fatal(t, err)
	return e, h
}

// left counts what a test may leave behind.
type left struct{ goroutines, files, maps int }

func count(t testing.TB) left {
	t.Helper()
	n := countSelf()
	return left{n[0], n[1], n[2]}
}

// countSelf counts goroutines, descriptors and mappings of ours.
func countSelf() [3]int {
	files, _ := os.ReadDir("/proc/self/fd")
	maps, _ := os.ReadFile("/proc/self/maps")
	return [3]int{runtime.NumGoroutine(), len(files), strings.Count(string(maps), "memfd:barewire")}
}

// noMore wants no more than before, soon.
func (before left) noMore(t testing.TB) {
	t.Helper()
	var now left
	for range 500 {
		now = count(t)
		if now.goroutines <= before.goroutines && now.files <= before.files && now.maps <= before.maps {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("left behind: %+v, before %+v\n%s", now, before, buf[:runtime.Stack(buf, true)])
}
