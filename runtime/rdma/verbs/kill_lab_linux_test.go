//go:build lab && (amd64 || arm64)

package verbs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

const elements = 64

// stage is a point of the other process' life at which it is to end: it kills itself there, without a word to anybody.
type stage struct {
	name  string
	after time.Duration // how long after it
}

// stages are all of them; "operation N" is when so many operations have been posted.
var stages = []stage{
	{"connects", 0}, {"connects", time.Millisecond}, {"connects", 5 * time.Millisecond}, {"connects", 20 * time.Millisecond},
	{"connected", 0}, {"registered", 0}, {"offered", 0}, {"imported", 0},
	{"operation 1", 0}, {"operation 2", 0}, {"operation 3", 0}, {"operation 4", 0}, {"operation 5", 0},
	{"operation 20", 0}, {"operation 60", 0}, {"operation 60", 3 * time.Millisecond}, {"operation 200", 0},
}

// reach ends this process if it is the other one and this is its stage.
func reach(format string, args ...any) {
	if os.Getenv("BAREWIRE_STAGE") != fmt.Sprintf(format, args...) {
		return
	}
	die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	after, err := time.ParseDuration(os.Getenv("BAREWIRE_AFTER"))
	if err != nil || after == 0 {
		die()
	}
	time.AfterFunc(after, die)
}

// victim is the other process: it has a region, and whoever connects to it, or it to whom, may use it. It adds, reads and writes
// in the peer's, too, until it is killed.
func victim(role, addr string) error {
	ctx := context.Background()
	dev, err := rdma.Open(ctx, rdma.Config{Provider: ofDevice()})
	if err != nil {
		return err
	}
	dom, err := dev.Domain()
	if err != nil {
		return err
	}
	var conn *rdma.Conn
	if role == "dials" {
		reach("connects")
		conn, err = dom.Dial(ctx, addr)
	} else {
		var ln *rdma.Listener
		if ln, err = dom.Listen(ctx, ""); err == nil {
			fmt.Println("listens at", ln.Addr())
			reach("connects")
			conn, err = ln.Accept(ctx)
		}
	}
	if err != nil {
		return err
	}
	reach("connected")
	return useUntilEnd(ctx, dom, conn)
}

// useUntilEnd offers a region, imports the peer's, and uses it until the connection ends.
func useUntilEnd(ctx context.Context, dom *rdma.Domain, conn *rdma.Conn) error {
	r, err := barewire.New(sample.TickInCPU(), elements)
	if err != nil {
		return err
	}
	own, err := rdma.Register(dom, r, sample.TickRemoteReadWriteAtomic())
	if err != nil {
		return err
	}
	defer own.Close()
	l, err := barewire.New(sample.TickInCPU(), elements)
	if err != nil {
		return err
	}
	local, err := rdma.Register(dom, l, sample.TickLocal())
	if err != nil {
		return err
	}
	defer local.Close()
	reach("registered")
	err = rdma.Offer(ctx, conn, "ticks", own)
	var rem barewire.Remote[sample.Tick, barewire.RemoteReadWriteAtomic]
	if err == nil {
		reach("offered")
		rem, err = rdma.Import(ctx, conn, "ticks", sample.TickRemoteReadWriteAtomic())
	}
	if err == nil {
		reach("imported")
	}
	for i := 0; err == nil; i++ {
		reach("operation %d", i)
		if err = conn.WaitRoom(ctx); err != nil {
			break
		}
		switch i % 4 {
		case 0:
			_, err = rdma.Write(conn, rem.Slice(0, 32), local.Span(0, 32))
		case 1:
			_, err = rdma.Read(conn, local.Span(32, 32), rem.Slice(32, 32))
		case 2:
			_, err = rdma.FetchAdd(conn, sample.TickSeqOf(rem, i%32), 1)
			if errors.Is(err, errors.ErrUnsupported) {
				err = nil // iWARP has none
			}
		case 3:
			err = conn.SendBytes(ctx, []byte("still here"))
			if err == nil && i > 40 {
				_, err = conn.Receive(ctx, make([]byte, 64))
			}
		}
		if errors.Is(err, rdma.ErrQueueFull) {
			err = nil
		}
	}
	return errors.Join(err, conn.Drain(ctx))
}

// TestKill kills the other process at each of the points of its life, whoever of the two has dialed. This one's operations must all
// end, with an error, its regions be free, and nothing be left in the kernel.
func TestKill(t *testing.T) {
	if role := os.Getenv("BAREWIRE_VICTIM"); role != "" {
		fmt.Println("ends:", victim(role, os.Getenv("BAREWIRE_PEER")))
		return
	}
	before := resources(t)
	for _, s := range stages {
		for _, role := range []string{"dials", "listens"} {
			t.Run(fmt.Sprintf("%s, %s, %v", role, s.name, s.after), func(t *testing.T) {
				killed(t, role, s)
				left(t, before)
			})
		}
	}
}

func killed(t *testing.T, role string, s stage) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	dev := must(rdma.Open(ctx, rdma.Config{Provider: ofDevice(), Device: device(t), Logger: slog.New(slog.DiscardHandler)}))(t)
	defer func() {
		if err := dev.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	dom := must(dev.Domain())(t)
	conn, err := meetVictim(ctx, t, dom, role, s)
	if err != nil {
		if s.name != "connects" {
			t.Fatal(err)
		}
		t.Log(err) // it was killed before
		return
	}
	err = useUntilEnd(ctx, dom, conn)
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the other process was killed, and this side ended with %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	// Not before: messages of the runtime's own may be under way until then.
	if s := conn.Stats(); s.InFlight != 0 || s.Violations != 0 {
		t.Errorf("%v: the witness saw %+v", err, s)
	}
}

// meetVictim starts the other process and connects with it. Who listens is not told of a peer that was killed before it was
// connected, and waits for another one: until that process is gone, that is, and a moment.
func meetVictim(ctx context.Context, t *testing.T, dom *rdma.Domain, role string, s stage) (*rdma.Conn, error) {
	child := exec.Command("/proc/self/exe", "-test.run=^TestKill$")
	child.Env = append(os.Environ(), "BAREWIRE_VICTIM="+role, "BAREWIRE_STAGE="+s.name, "BAREWIRE_AFTER="+s.after.String())
	said := bufio.NewReader(must(child.StdoutPipe())(t))
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	if role == "listens" {
		ok(t, child.Start())
		line, err := said.ReadString('\n')
		if err != nil {
			return nil, err
		}
		return dom.Dial(ctx, strings.TrimSpace(strings.TrimPrefix(line, "listens at")))
	}
	ln := must(dom.Listen(ctx, ""))(t)
	defer ln.Close()
	child.Env = append(child.Env, "BAREWIRE_PEER="+ln.Addr())
	ok(t, child.Start())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		_, _ = io.Copy(io.Discard, said) // to its end
		time.Sleep(time.Second)
		cancel(errors.New("it was killed, and did not come"))
	}()
	return ln.Accept(ctx)
}

// resources are what the kernel counts: objects of all RDMA devices by kind, and memory that this process has pinned for them. The
// devices have some of their own. Source: rdma-resource(8), proc_pid_status(5).
func resources(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("rdma", "resource", "show").CombinedOutput()
	if err != nil {
		t.Fatalf("rdma resource show: %v: %s", err, out)
	}
	for line := range strings.Lines(string(must(os.ReadFile("/proc/self/status"))(t))) {
		if strings.HasPrefix(line, "VmPin:") {
			out = append(out, line...)
		}
	}
	return string(out)
}

// left wants the kernel's counts to become what they were: it clears up behind a process that was killed when it gets to it.
func left(t testing.TB, before string) {
	t.Helper()
	var now string
	for range 300 {
		if now = resources(t); now == before {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("something is left in the kernel: it had\n%sand has\n%s", before, now)
}
