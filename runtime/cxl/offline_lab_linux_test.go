//go:build lab

//barewire:trust tests make what is wrong
package cxl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// memoryBlock is the state of the block of memory that an address is in: online, offline. Source: the kernel's
// Documentation/admin-guide/mm/memory-hotplug.rst.
func memoryBlock(t *testing.T, phys uint64) string {
	t.Helper()
	b, err := os.ReadFile("/sys/devices/system/memory/block_size_bytes")
	if err != nil {
		t.Fatal(err)
	}
	size, err := strconv.ParseUint(strings.TrimSpace(string(b)), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("/sys/devices/system/memory/memory%d/state", phys/size)
}

func stateOf(t *testing.T, block string) string {
	t.Helper()
	b, err := os.ReadFile(block)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// offline takes a block out of use, and gives up after so long.
func offline(block string, most time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	out, err := exec.CommandContext(ctx, "sh", "-c", "echo offline > "+block).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return errors.Join(ctx.Err(), err)
}

// TestLabOffline: memory of the node goes offline under regions that are copied meanwhile. The kernel moves them to other nodes, whatever they are bound to;
// what they have stays, Placement tells where they are, and what is asked for next is at the node, or an error when the node is gone.
func TestLabOffline(t *testing.T) {
	node := asNode(t)
	p := nodePool(t, node, cxl.Size(64<<20))
	const n = 1 << 16 // 4 MiB
	r, err := cxl.New(p, placed.SensorInCXL(), n)
	if err != nil {
		t.Fatal(err)
	}
	data := random(t, r, 9)
	block := memoryBlock(t, physical(t, r, 0))
	stop, copied := make(chan bool), make(chan error, 1)
	go func() {
		got := make([]byte, n*64)
		for {
			select {
			case <-stop:
				copied <- nil
				return
			default:
			}
			if err := barewire.CopyOut(r, 0, got); err != nil || string(got) != string(data) {
				copied <- fmt.Errorf("the copy has other bytes: %v, %w", string(got) != string(data), err)
				return
			}
		}
	}()
	if err := offline(block, time.Minute); err != nil || stateOf(t, block) != "offline" {
		t.Fatalf("%s is %s: %v", block, stateOf(t, block), err)
	}
	close(stop)
	if err := <-copied; err != nil {
		t.Error(err)
	}
	is(t, r, data)
	pl, err := barewire.Placement(r)
	if at := kernelSays(t, r); err != nil || at[node] == n*64/os.Getpagesize() || len(at) == 1 && pl.Node == node {
		t.Errorf("%+v, %v; the kernel says %v", pl, err, at)
	}
	t.Logf("after a block went offline: %+v", pl)
	more, err := cxl.New(p, placed.SensorInCXL(), n)
	if err != nil {
		t.Fatal(err)
	}
	if pl, err := barewire.Placement(more); err != nil || pl.Node != node {
		t.Errorf("what came then is at %+v, %v", pl, err)
	}
	moreData := random(t, more, 10)

	tool(t, "daxctl offline-memory dax0.0")
	is(t, r, data)
	is(t, more, moreData)
	pl, err = barewire.Placement(more)
	if at := kernelSays(t, more); err != nil || at[node] != 0 || pl.Node == node {
		t.Errorf("%+v, %v; the kernel says %v", pl, err, at)
	}
	t.Logf("after all of the node went offline: %+v", pl)
	if b, err := barewire.Backing(more); err != nil || b.Kind != barewire.InCXL {
		t.Errorf("%+v, %v", b, err)
	}
	_, err = cxl.New(p, placed.SensorInCXL(), 1<<18)
	wrong(t, err, barewire.ErrPlace)
	wrong(t, err, cxl.ErrNoNode)
	t.Log(err)
	closed(t, r)
	closed(t, more)
	closed(t, p)
	_, err = cxl.Open(t.Context(), cxl.Node(node), cxl.Assume())
	if err == nil {
		t.Error("a pool on a node that is offline")
	}
	t.Log(err)
	tool(t, "daxctl online-memory dax0.0")
}

// TestLabStaysPinned is last, as TestLabStays: memory that is registered is pinned, and on a node that is not movable its block stays online until it is not.
func TestLabStaysPinned(t *testing.T) {
	node := staysNode(t)
	p := nodePool(t, node)
	defer closed(t, p)
	r, err := cxl.New(p, placed.SensorInCXL(), 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	data := random(t, r, 11)
	block := memoryBlock(t, physical(t, r, 0))
	dev, dom := domain(t)
	defer closed(t, dev)
	mr, err := rdma.Register(dom, r, placed.SensorRemoteRead())
	if err != nil {
		t.Fatal(err)
	}
	err = offline(block, 5*time.Second)
	if err == nil || stateOf(t, block) != "online" {
		t.Errorf("pinned memory went offline: %s, %v", stateOf(t, block), err)
	}
	t.Log(err)
	if pl, err := barewire.Placement(mr); err != nil || pl.Node != node {
		t.Errorf("%+v, %v", pl, err)
	}
	if r, err = rdma.Deregister(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	is(t, r, data)
	closed(t, r)
}
