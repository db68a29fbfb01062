package rdma

import (
	"errors"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// TestUrgentWhileSaying has a message between the connections on its way out: whoever
// polls then may take what it lacks, so must see that there is one.
func TestUrgentWhileSaying(t *testing.T) {
	q := &stubQueue{}
	c := stubConn(t, q)
	defer c.Close()
	said := 0
	q.onPost = func([]WorkRequest) {
		if said++; !c.ctl.urgent.Load() {
			t.Error("who polls now does not see that there is something to say")
		}
	}
	c.tell(&ctl.Cancel{ID: 1})
	c.tell(&ctl.Cancel{ID: 2})
	if said != 2 {
		t.Errorf("%d messages were sent, want 2", said)
	}
	if c.ctl.urgent.Load() {
		t.Error("there is nothing left to say")
	}
	q.complete()
}

// TestSaidLater has no room for a message at first: the poll that makes room sends it.
func TestSaidLater(t *testing.T) {
	q := &stubQueue{}
	c := stubConn(t, q)
	defer c.Close()
	var slots []int
	for {
		slot, ok := c.pool.take()
		if !ok {
			break
		}
		slots = append(slots, slot)
	}
	c.tell(&ctl.Cancel{ID: 1})
	if len(q.wrs) != 0 {
		t.Fatal("it was sent without a slot")
	}
	for _, slot := range slots {
		c.pool.free(slot)
	}
	c.Poll()
	if len(q.wrs) != 1 {
		t.Errorf("%d messages were sent, want 1", len(q.wrs))
	}
	q.complete()
}

// stubRegion is a region that is registered in the domain of a stub connection.
func stubRegion(t *testing.T, c *Conn) (*barewire.Region[line, barewire.CPU, barewire.Local], *region.Handle) {
	t.Helper()
	r, err := barewire.New(barewire.MintPlace[line, barewire.CPU](&lineInfo, barewire.InCPU, -1, false), 4)
	if err != nil {
		t.Fatal(err)
	}
	mr, err := Register(c.dom, r, barewire.MintGrant[line, barewire.Local](&lineInfo))
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := barewire.Core(friend, mr)
	if err != nil {
		t.Fatal(err)
	}
	return mr, h
}

// TestTakenWithAnError has a provider that takes a request and errs: the request completes as
// any other, and is let go of once.
func TestTakenWithAnError(t *testing.T) {
	q := &stubQueue{}
	c := stubConn(t, q)
	mr, h := stubRegion(t, c)
	if err := h.Hold(h.Gen()); err != nil { // by something else
		t.Fatal(err)
	}
	q.err = errors.New("closed in the midst")
	r := request{verb: VerbWrite, key: 1}
	if err := r.local(h, h.Gen(), 0, lineSize); err != nil {
		t.Fatal(err)
	}
	op, err := post(c, &r, nil)
	if err != nil {
		t.Errorf("it was taken, and the post says: %v", err)
	}
	if err := c.Err(); !errors.Is(err, q.err) {
		t.Errorf("the connection says %v, want %v", err, q.err)
	}
	q.push(Completion{ID: 0, Verb: VerbWrite, Err: &StatusError{Status: StatusFlushed}})
	if err := op.Wait(t.Context()); !errors.Is(err, q.err) {
		t.Errorf("the operation says %v, want %v", err, q.err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := mr.Close(); !errors.Is(err, barewire.ErrInFlight) {
		t.Errorf("closing the region says %v: what something else holds was let go of", err)
	}
	h.Drop()
	if err := mr.Close(); err != nil {
		t.Error(err)
	}
}

// TestNumbersAreNotReused: what was not taken leaves its number to nobody else, also before
// the connection is known to have failed.
func TestNumbersAreNotReused(t *testing.T) {
	q := &stubQueue{err: errors.New("full"), take: -1}
	c := stubConn(t, q)
	defer c.Close()
	r := request{verb: VerbFlush}
	c.mu.Lock()
	c.stage(&r, nil, nil, forUser)
	f := c.ringLocked(false)
	err := c.admit(&r, forUser)
	c.mu.Unlock()
	c.announce(f)
	if !errors.Is(err, ErrFlushed) || !errors.Is(err, q.err) {
		t.Errorf("after a post that failed the next one gets %v, want ErrFlushed", err)
	}
}

// TestRefusedLate has a write that completed before the peer refused it. What fails with it says
// which one that was: by where it was posted, not by a number that nobody knows.
func TestRefusedLate(t *testing.T) {
	late := &StatusError{Status: StatusRemoteKey, Detail: "key 7 was revoked", Late: true, ID: 0}
	for name, comp := range map[string]Completion{
		"the next operation": {ID: 1, Verb: VerbFlush, Err: late},
		"a receive":          {ID: 1, Verb: VerbReceive, Err: late},
	} {
		q := &stubQueue{}
		c := stubConn(t, q)
		mr, h := stubRegion(t, c)
		r := request{verb: VerbWrite, key: 7, rights: region.Write}
		if err := r.local(h, h.Gen(), 0, lineSize); err != nil {
			t.Fatal(err)
		}
		op, err := post(c, &r, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.push(Completion{ID: 0, Verb: VerbWrite})
		if err := op.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if comp.Verb == VerbFlush {
			if op, err = post(c, &request{verb: VerbFlush}, nil); err != nil {
				t.Fatal(err)
			}
		}
		q.push(comp)
		c.Poll()
		err = c.Err()
		if comp.Verb == VerbFlush {
			err = op.Wait(t.Context())
		}
		if !errors.Is(err, ErrRevoked) {
			t.Errorf("%s says %v, want ErrRevoked", name, err)
		}
		for _, want := range []string{"write of 64 bytes with region of rdma.line", " (local) and key 0x7 (remote_write)", "posted at rdma/handover_test.go:", "it had completed, and the peer refused it after", "key 7 was revoked"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s does not say %q: %v", name, want, err)
			}
		}
		if n := strings.Count(err.Error(), "at stub"); n != 1 {
			t.Errorf("%s names the peer %d times: %v", name, n, err)
		}
		if err := errors.Join(c.Close(), mr.Close()); err != nil {
			t.Error(err)
		}
	}
}
