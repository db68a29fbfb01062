package rdma

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// FuzzHello reads what a peer says when it connects: an error, a plain peer, or
// values within the limits.
func FuzzHello(f *testing.F) {
	good, err := hello{depth: 128, credits: 64, message: 4096, mtu: 4096}.append(nil)
	if err != nil {
		f.Fatal(err)
	}
	if len(good) > 48 {
		f.Fatalf("a hello of %d bytes; transports carry 48", len(good))
	}
	f.Add(good)
	f.Add(append(good, make([]byte, 32)...))
	f.Add(good[:10])
	f.Add([]byte("BWR\x02"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHello(b)
		switch {
		case err != nil:
			if h != (hello{}) {
				t.Errorf("%v, and a value: %+v", err, h)
			}
		case h.plain:
			if bytes.HasPrefix(b, magic[:]) {
				t.Error("it begins as ours and is plain")
			}
		case h.depth < 1 || h.depth > maxDepth || h.credits < minCredits || h.credits > maxCredits ||
			h.message < minMessage || h.message > maxMessage || h.mtu < 256 || h.mtu > 1<<16:
			t.Errorf("out of bounds: %+v", h)
		}
	})
}

// FuzzControl reads messages of a peer's connection as they arrive. Whatever
// they are, nothing panics, counts stay within bounds, and what is kept is bounded.
func FuzzControl(f *testing.F) {
	for _, body := range []ctl.BodyMember{
		&ctl.Credits{}, &ctl.Import{ID: 1, Name: "x", Type: "y", Size: 8}, &ctl.Imported{ID: 7}, &ctl.Cancel{ID: 1},
		&ctl.Refused{ID: 7, Text: "no"}, &ctl.Revoked{Key: 5, Epoch: 1},
	} {
		msg := ctl.Control{Posted: 64, Body: ctl.Body{Value: body}}
		b, err := msg.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		q := &stubQueue{}
		c := stubConn(t, q)
		defer c.Close()
		if len(b) > c.pool.used {
			b = b[:c.pool.used]
		}
		asked := &asked{}
		c.ctl.mu.Lock()
		c.ctl.imports[7] = asked
		c.ctl.mu.Unlock()
		copy(c.pool.bytes(3, c.pool.used), b)
		q.push(Completion{ID: 3, Verb: VerbReceive, Bytes: len(b), Imm: immControl})
		c.Poll()
		if left := c.credit.left(); left > c.credit.window {
			t.Errorf("%d receives are left of %d", left, c.credit.window)
		}
		if asked.done.Load() && asked.err == nil {
			// An answer: what it refers to is checked before anybody gets it.
			typ := &region.Type{Name: "x", Size: 8, Align: 8}
			if err := checkRef(&asked.ref, typ, region.Read); err == nil {
				if asked.ref.Count == 0 || asked.ref.Addr+asked.ref.Count*8 < asked.ref.Addr || asked.ref.Rights&region.Read == 0 {
					t.Errorf("let through: %+v", asked.ref)
				}
			}
		}
	})
}

// TestHostileControl has messages that break the protocol: the connection ends, and says why.
func TestHostileControl(t *testing.T) {
	for name, msg := range map[string]ctl.Control{
		"more receives than there can be": {Posted: 1 << 40, Body: ctl.Body{Value: &ctl.Credits{}}},
	} {
		b, err := msg.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		hostile(t, name, b)
	}
	hostile(t, "garbage", []byte{1, 2, 3})
	hostile(t, "nothing", nil)
}

// TestHostileName has a name that would move a terminal's cursor: it reaches neither the observer nor the log.
func TestHostileName(t *testing.T) {
	q := &stubQueue{}
	c := stubConn(t, q)
	var got string
	c.dom.dev.cfg.Observer = func(e Event) { got += e.Name + e.Err.Error() }
	c.serve(&ctl.Import{Name: "a\x1b[2J\xff\n"})
	if !strings.Contains(got, "a?[2J??") || strings.ContainsAny(got, "\x1b\n") || !utf8.ValidString(got) {
		t.Errorf("the observer was given %q", got)
	}
	c.dom.dev.cfg.Observer = nil
	q.complete()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func hostile(t *testing.T, name string, b []byte) {
	t.Helper()
	q := &stubQueue{}
	c := stubConn(t, q)
	defer c.Close()
	copy(c.pool.bytes(0, c.pool.used), b)
	q.push(Completion{ID: 0, Verb: VerbReceive, Bytes: len(b), Imm: immControl})
	c.Poll()
	if err := c.Err(); err == nil || !isProtocol(err) {
		t.Errorf("%s: %v, want ErrProtocol", name, err)
	}
	if c.Stats().Violations != 1 {
		t.Errorf("%s: %d violations, want 1", name, c.Stats().Violations)
	}
}

// TestHostileProvider has completions that fit nothing.
func TestHostileProvider(t *testing.T) {
	for name, comp := range map[string]Completion{
		"an operation that is not there": {ID: 99, Verb: VerbWrite},
		"an operation before the first":  {ID: noSeq, Verb: VerbWrite},
		"a receive that is not there":    {ID: 1 << 20, Verb: VerbReceive},
		"a receive that is too long":     {ID: 0, Verb: VerbReceive, Bytes: 1 << 30},
		"a receive of less than nothing": {ID: 0, Verb: VerbReceive, Bytes: -1},
	} {
		q := &stubQueue{}
		c := stubConn(t, q)
		q.push(comp)
		c.Poll()
		if err := c.Err(); err == nil || !isProtocol(err) {
			t.Errorf("%s: %v, want ErrProtocol", name, err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
	}
}

// TestProviderThatTakesLess than it is given.
func TestProviderThatTakesLess(t *testing.T) {
	q := &stubQueue{take: 2}
	c := stubConn(t, q)
	b := c.Batch()
	var ops []Op
	for range 5 {
		op, err := post(b, &request{verb: VerbFlush}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
	if err := b.Post(); err == nil {
		t.Error("it took all")
	}
	q.push(Completion{ID: 0, Verb: VerbFlush})
	q.push(Completion{ID: 1, Verb: VerbFlush})
	for i, op := range ops {
		if err := op.Wait(t.Context()); (err == nil) != (i < 2) {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
