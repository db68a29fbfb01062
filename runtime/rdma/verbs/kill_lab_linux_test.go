//go:build lab && (amd64 || arm64)

package verbs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

const elements = 64

// victim is the other process: it has a region, and whoever connects to it, or it to whom, may use it. It adds, reads and writes
// in the peer's, too, until it is killed.
func victim(role, addr string) error {
	ctx := context.Background()
	dev, err := rdma.Open(ctx, rdma.Config{Provider: standard})
	if err != nil {
		return err
	}
	dom, err := dev.Domain()
	if err != nil {
		return err
	}
	var conn *rdma.Conn
	if role == "dials" {
		conn, err = dom.Dial(ctx, addr)
	} else {
		var ln *rdma.Listener
		if ln, err = dom.Listen(ctx, ""); err == nil {
			fmt.Println("listens at", ln.Addr())
			conn, err = ln.Accept(ctx)
		}
	}
	if err != nil {
		return err
	}
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
	if err := rdma.Offer(ctx, conn, "ticks", own); err != nil {
		return err
	}
	rem, err := rdma.Import(ctx, conn, "ticks", sample.TickRemoteReadWriteAtomic())
	for i := 0; err == nil; i++ {
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

// TestKill kills the other process at some point of its life, again and again. This one's operations must all end, with an error, its
// regions be free, and nothing be left.
func TestKill(t *testing.T) {
	if role := os.Getenv("BAREWIRE_VICTIM"); role != "" {
		fmt.Println("ends:", victim(role, os.Getenv("BAREWIRE_PEER")))
		return
	}
	for round := range 24 {
		role := []string{"dials", "listens"}[round%2]
		t.Run(fmt.Sprintf("%s-%d", role, round), func(t *testing.T) {
			killed(t, role, time.Duration(round*round)*time.Millisecond)
		})
	}
}

func killed(t *testing.T, role string, after time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dev := must(rdma.Open(ctx, rdma.Config{Provider: standard, Device: device(t), Logger: slog.New(slog.DiscardHandler)}))(t)
	defer func() {
		if err := dev.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	dom := must(dev.Domain())(t)
	child := exec.Command("/proc/self/exe", "-test.run=^TestKill$")
	child.Env = append(os.Environ(), "BAREWIRE_VICTIM="+role)
	said := bufio.NewReader(must(child.StdoutPipe())(t))
	var conn *rdma.Conn
	var err error
	if role == "dials" {
		ln := must(dom.Listen(ctx, ""))(t)
		child.Env = append(child.Env, "BAREWIRE_PEER="+ln.Addr())
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		conn, err = ln.Accept(ctx)
	} else {
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := said.ReadString('\n')
		conn, err = dom.Dial(ctx, strings.TrimSpace(strings.TrimPrefix(line, "listens at")))
	}
	if err != nil {
		_ = child.Process.Kill()
		t.Fatal(err)
	}
	time.AfterFunc(after, func() { _ = child.Process.Kill() })
	err = useUntilEnd(ctx, dom, conn)
	_ = child.Wait()
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after %v the other process was killed, and this side ended with %v", after, err)
	}
	if s := conn.Stats(); s.InFlight != 0 || s.Violations != 0 {
		t.Errorf("the witness saw %+v", s)
	}
	if err := conn.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
