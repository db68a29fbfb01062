package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

const (
	blockCount = 256 // 1 MiB
	countedAt  = 3   // the block where both sides count
)

// owner has the cache.
type owner struct {
	*side
	ln     *rdma.Listener
	models *ModelCPU[barewire.RemoteRead]
	blocks *BlockCPU[barewire.RemoteReadAtomic] // what everybody may do with the blocks
	leased *BlockCPU[barewire.RemoteReadWrite]  // the same memory, for who has a lease
	atomic barewire.GlobalAtomics               // this processor's atomics and the peer's are atomic together
	lent   uint32                               // the first block of the last lease
	before rdma.Stats
}

// newOwner makes the regions and listens.
func newOwner(ctx context.Context, show screen, transport string) (_ *owner, err error) {
	s, err := newSide(ctx, show, "owner", transport)
	if err != nil {
		return nil, err
	}
	o := &owner{side: s}
	for _, step := range []func(context.Context) error{o.makeModels, o.makeBlocks, o.listen} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, o.close())
		}
	}
	o.say("process %d, over %s: has %d models to read, %d blocks of %d B to read and to count in",
		os.Getpid(), s.dev.Info().Provider, o.models.Len(), o.blocks.Len(), BlockBinarySize)
	return o, nil
}

// makeModels fills a region while it is this process's alone, and registers it then.
func (o *owner) makeModels(context.Context) error {
	r, err := barewire.New(ModelInCPU(), 3)
	if err != nil {
		return err
	}
	err = barewire.With(r, func(w ModelWindow[barewire.Unregistered]) error {
		models, err := barewire.Slice(w) // a []Model over the region's memory
		if err != nil {
			return err
		}
		for i, name := range []string{"owl", "heron", "albatross"} {
			models[i] = Model{ID: uint32(i + 1), Layers: 16 << i}
			copy(models[i].Name[:], name)
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, r.Close())
	}
	if o.models, err = rdma.Register(o.dom, r, ModelRemoteRead()); err != nil {
		return errors.Join(err, r.Close())
	}
	o.later(o.models.Close)
	return nil
}

// makeBlocks registers one memory twice: for all to read and count in, and for
// holders of a lease to write.
func (o *owner) makeBlocks(context.Context) (err error) {
	if o.blocks, err = newRegion(o.side, "cache", BlockInCPU(), blockCount, BlockRemoteReadAtomic()); err != nil {
		return err
	}
	if o.leased, err = rdma.Also(o.dom, o.blocks, BlockRemoteReadWrite()); err != nil {
		return err
	}
	o.later(o.leased.Close)
	o.atomic, err = o.dom.GlobalAtomics()
	return err
}

func (o *owner) listen(ctx context.Context) (err error) {
	addr := fmt.Sprintf("@barewire-kvcache-%d", os.Getpid()) // with shm such a name is one without a file
	if o.dev.Info().Provider == "iwarp" {
		addr = "127.0.0.1:0"
	}
	if o.ln, err = o.dom.Listen(ctx, addr); err != nil {
		return err
	}
	o.later(o.ln.Close)
	return nil
}

func (o *owner) addr() string { return o.ln.Addr() }

// serve takes one peer and does what its mail asks for, until it cheats.
func (o *owner) serve(ctx context.Context) (err error) {
	if o.conn, err = o.ln.Accept(ctx); err != nil {
		return err
	}
	if err := o.openMailbox(ctx); err != nil {
		return err
	}
	if err := rdma.Offer(ctx, o.conn, "models", o.models); err != nil {
		return err
	}
	if err := rdma.Offer(ctx, o.conn, "blocks", o.blocks); err != nil {
		return err
	}
	for {
		n, x, err := o.mail.take(ctx)
		switch {
		case err != nil:
		case n.Imm == ping:
			err = o.mail.put(ctx, ping, x)
		case n.Imm == forging:
			return o.cheated(ctx)
		default:
			err = o.handle(ctx, n, x)
		}
		if err != nil {
			return err
		}
	}
}

func (o *owner) handle(ctx context.Context, n rdma.Notification, x Mail) error {
	switch n.Imm {
	case startCounting:
		return o.count(ctx)
	case wantsLease:
		return o.lease(ctx, x)
	case wrote:
		return o.look(ctx, n)
	case startMoving:
		o.before = o.conn.Stats()
		return o.mail.put(ctx, startMoving, Mail{})
	case moved:
		return o.undisturbed(ctx, x)
	}
	return fmt.Errorf("mail about %d", n.Imm)
}

// count counts in a block for as long as the peer does.
func (o *owner) count(ctx context.Context) error {
	return barewire.With(o.blocks, func(w BlockWindow[barewire.RemoteReadAtomic]) error {
		uses, err := BlockUsesGlobal(w, countedAt, o.atomic)
		if err != nil {
			return err
		}
		if err := o.mail.put(ctx, startCounting, Mail{}); err != nil {
			return err
		}
		var peers Mail
		done := make(chan error, 1)
		go func() {
			var err error
			peers, err = o.mail.expect(ctx, counted)
			done <- err
		}()
		for n := uint64(0); ; n++ {
			select {
			case err := <-done:
				if err != nil {
					return err
				}
				o.say("counted %d times in block %d, the peer %d times, in %d turns: the counter says %d",
					n, countedAt, peers.Number, peers.Count, uses.Load())
				if err := claim(uses.Load() == n+peers.Number, "no count is lost: %d and %d is %d", n, peers.Number, uses.Load()); err != nil {
					return err
				}
				return o.mail.put(ctx, counted, Mail{})
			default:
				uses.Add(1)
			}
		}
	})
}

// lease gives the right to write some blocks, as a message. What was asked for
// comes from outside: a range that is not there is refused when it is encoded.
func (o *owner) lease(ctx context.Context, want Mail) error {
	all, err := rdma.RemoteOf(o.leased)
	if err != nil {
		return err
	}
	var l Lease
	if err := l.SetBlocksRef(all.Slice(int(want.First), int(want.Count))); err != nil {
		return err
	}
	l.Holder = o.conn.Peer()
	b, err := l.MarshalBinary()
	if err != nil {
		return err
	}
	o.lent = want.First
	return o.conn.SendBytes(ctx, b)
}

// look reads what the peer wrote, where it lies.
func (o *owner) look(ctx context.Context, n rdma.Notification) error {
	var b Block
	err := barewire.With(o.leased, func(w BlockWindow[barewire.RemoteReadWrite]) error {
		blocks, err := rdma.Received(n, w, int(o.lent), 1) // a []Block over the region's memory
		if err == nil {
			b = blocks[0]
		}
		return err
	})
	if err != nil {
		return err
	}
	o.say("was notified, and finds in block %d: layer %d, from token %d, keys[0] = %v", o.lent, b.Layer, b.From, b.Keys[0])
	if err := claim(b.Layer == 5 && b.From == 7000 && b.Keys[0] == 0.5 && b.Values[495] == -1, "what the peer wrote is in place: %d, %d, %v, %v", b.Layer, b.From, b.Keys[0], b.Values[495]); err != nil {
		return err
	}
	return o.mail.put(ctx, wrote, Mail{First: o.lent})
}

// undisturbed compares what this side was told with what was moved.
func (o *owner) undisturbed(ctx context.Context, x Mail) error {
	now := o.conn.Stats()
	notified, messages := now.Notifications-o.before.Notifications, now.Messages-o.before.Messages
	o.say("was not asked: %d MiB were written and read here, and all it got was %d notification", x.Number>>20, notified)
	if err := claim(notified == 1 && messages == 0, "one-sided operations do not disturb: %d notifications, %d messages", notified, messages); err != nil {
		return err
	}
	return o.mail.put(ctx, moved, Mail{})
}

// cheated waits for the forged write, which ends the connection.
func (o *owner) cheated(ctx context.Context) error {
	_, err := o.conn.NextNotification(ctx)
	return claim(errors.Is(err, rdma.ErrFailed), "a forged write ends the connection: %v", err)
}

// unharmed looks whether the forged write did anything.
func (o *owner) unharmed() error {
	var layer uint32
	err := barewire.With(o.blocks, func(w BlockWindow[barewire.RemoteReadAtomic]) error {
		layer = BlockAt(w, 0).Layer()
		return nil
	})
	if err != nil {
		return err
	}
	if err := claim(layer != forgedLayer, "a forged write changes nothing: layer %d", layer); err != nil {
		return err
	}
	o.say("has lost that peer, and its blocks are as they were. All was as claimed.")
	return nil
}
