//go:build lab

//barewire:trust tests make what is wrong
package cxl_test

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// peerSensors is how many elements each of the regions has that a peer writes and reads.
const peerSensors = 1 << 13 // 512 KiB

// bytesOf is what regions have that a test fills from a seed.
func bytesOf(t *testing.T, seed byte) []byte {
	t.Helper()
	b := make([]byte, peerSensors*64)
	if _, err := rand.NewChaCha8([32]byte{seed}).Read(b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestLabPeer: a peer in another process writes to a pool's region and reads from another one, by rdma/verbs. Both sides look at what has come.
func TestLabPeer(t *testing.T) {
	if addr := os.Getenv("BAREWIRE_TEST_PEER"); addr != "" {
		peer(t, addr)
		return
	}
	p, err := labPool(t)
	if err != nil {
		t.Fatal(err)
	}
	in, err := cxl.New(p, placed.SensorInCXL(), peerSensors, barewire.Named("in"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := cxl.New(p, placed.SensorInCXL(), peerSensors, barewire.Named("out"))
	if err != nil {
		t.Fatal(err)
	}
	random(t, out, 20)
	dev, dom := domain(t)
	written, err := rdma.Register(dom, in, placed.SensorRemoteWrite())
	if err != nil {
		t.Fatal(err)
	}
	read, err := rdma.Register(dom, out, placed.SensorRemoteRead())
	if err != nil {
		t.Fatal(err)
	}
	ln, err := dom.Listen(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	cmd := again(t, "TestLabPeer", "BAREWIRE_TEST_PEER="+ln.Addr())
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := ln.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := rdma.Offer(t.Context(), conn, "in", written); err != nil {
		t.Fatal(err)
	}
	if err := rdma.Offer(t.Context(), conn, "out", read); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(bufio.NewReader(said))
	if werr := cmd.Wait(); err != nil || werr != nil || !strings.Contains(string(text), "PASS") {
		t.Errorf("the peer: %v, %v\n%s", err, werr, text)
	}
	closed(t, conn)
	if in, err = rdma.Deregister(t.Context(), written); err != nil {
		t.Fatal(err)
	}
	if out, err = rdma.Deregister(t.Context(), read); err != nil {
		t.Fatal(err)
	}
	is(t, in, bytesOf(t, 21))
	is(t, out, bytesOf(t, 20))
	closed(t, in)
	closed(t, out)
	closed(t, dev)
	closed(t, p)
}

// peer is the other process.
func peer(t *testing.T, addr string) {
	dev, dom := domain(t)
	defer closed(t, dev)
	conn, err := dom.Dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	own, err := barewire.New(placed.SensorInCPU(), peerSensors)
	if err != nil {
		t.Fatal(err)
	}
	if err := barewire.CopyIn(own, 0, bytesOf(t, 21)); err != nil {
		t.Fatal(err)
	}
	mine, err := rdma.Register(dom, own, placed.SensorLocal())
	if err != nil {
		t.Fatal(err)
	}
	in, err := rdma.Import(t.Context(), conn, "in", placed.SensorRemoteWrite())
	if err != nil {
		t.Fatal(err)
	}
	out, err := rdma.Import(t.Context(), conn, "out", placed.SensorRemoteRead())
	if err != nil {
		t.Fatal(err)
	}
	op, err := rdma.Write(conn, in.Slice(0, peerSensors), mine.Span(0, peerSensors))
	if err != nil {
		t.Fatal(err)
	}
	if err := op.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if op, err = rdma.Read(conn, mine.Span(0, peerSensors), out.Slice(0, peerSensors)); err != nil {
		t.Fatal(err)
	}
	if err := op.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if own, err = rdma.Deregister(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, peerSensors*64)
	if err := barewire.CopyOut(own, 0, got); err != nil || !bytes.Equal(got, bytesOf(t, 20)) {
		t.Errorf("what was read is not what is there, %v", err)
	}
	closed(t, own)
	closed(t, conn)
}
