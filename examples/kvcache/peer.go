package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// forgedLayer is what a write says that must not arrive.
const forgedLayer = 666

// client is the peer.
type client struct {
	*side
	blocks BlockRemote[barewire.RemoteReadAtomic] // in the owner's memory
	mine   *BlockCPU[barewire.Local]              // here: as many
}

// peer reads, writes and counts in the owner's memory, and asks for too much.
func peer(ctx context.Context, show screen, transport, addr string) (err error) {
	s, err := newSide(ctx, show, "peer", transport)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.conn, err = s.dom.Dial(ctx, addr); err != nil {
		return err
	}
	if err := s.openMailbox(ctx); err != nil {
		return err
	}
	c := &client{side: s}
	if c.mine, err = newRegion(s, "peer's blocks", BlockInCPU(), blockCount, BlockLocal()); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		c.readModels, c.count, c.askForMore, c.writeByLease, c.measureLatency, c.measureThroughput, c.forge,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// readModels reads the owner's list of models. To write it does not compile:
// there is no ModelRemoteWrite, and rdma.Write takes no Remote[Model, RemoteRead].
func (c *client) readModels(ctx context.Context) error {
	models, err := rdma.Import(ctx, c.conn, "models", ModelRemoteRead())
	if err != nil {
		return err
	}
	here, err := newRegion(c.side, "models read", ModelInCPU(), models.Len(), ModelLocal())
	if err != nil {
		return err
	}
	op, err := rdma.Read(c.conn, here.Span(0, models.Len()), models)
	if err != nil {
		return err
	}
	if err := op.Wait(ctx); err != nil {
		return err
	}
	var names []string
	err = barewire.With(here, func(w ModelWindow[barewire.Local]) error {
		list, err := barewire.Slice(w)
		for i := range list {
			name, _, _ := bytes.Cut(list[i].Name[:], []byte{0})
			names = append(names, fmt.Sprintf("%s (%d layers)", name, list[i].Layers))
		}
		return err
	})
	if err != nil {
		return err
	}
	c.say("process %d: read the models: %s", os.Getpid(), strings.Join(names, ", "))
	if c.dev.Info().Provider == "shm" {
		if err := c.lookAtMapping(); err != nil {
			return err
		}
	}
	return claim(strings.Join(names, "") == "owl (16 layers)heron (32 layers)albatross (64 layers)", "the models are the owner's: %v", names)
}

// count counts in a block of the owner's while the owner does.
func (c *client) count(ctx context.Context) (err error) {
	if c.blocks, err = rdma.Import(ctx, c.conn, "blocks", BlockRemoteReadAtomic()); err != nil {
		return err
	}
	if _, err := c.mail.ask(ctx, startCounting, Mail{}); err != nil {
		return err
	}
	uses := BlockUsesOf(c.blocks, countedAt) // one field of one block
	var n, turns, last uint64
	enough := time.Now().Add(maxTime)
	// Over a network each takes its time; on a busy machine they take turns seldom.
	for n < 10_000 && (n%64 != 0 || time.Now().Before(enough)) || turns < 10 && n < 1_000_000 {
		op, err := rdma.FetchAdd(c.conn, uses, 1)
		if err != nil {
			return err
		}
		was, err := op.Wait(ctx)
		if err != nil {
			return err
		}
		if n == 0 || was != last+1 { // the owner came between
			turns++
		}
		n, last = n+1, was
	}
	_, err = c.mail.ask(ctx, counted, Mail{Number: n, Count: uint32(turns)})
	return err
}

// askForMore asks for a right that the owner has not given.
func (c *client) askForMore(ctx context.Context) error {
	_, err := rdma.Import(ctx, c.conn, "blocks", BlockRemoteReadWrite())
	c.say("asked to write blocks, too: %v", err)
	return claim(errors.Is(err, rdma.ErrRefused) && errors.Is(err, rdma.ErrRights), "Import refuses a right that was not given: %v", err)
}

// lease asks for the right to write some blocks, and gets it in a message.
func (c *client) lease(ctx context.Context, first, count uint32) (BlockRemote[barewire.RemoteReadWrite], error) {
	var none BlockRemote[barewire.RemoteReadWrite]
	if err := c.mail.put(ctx, wantsLease, Mail{First: first, Count: count}); err != nil {
		return none, err
	}
	b := make([]byte, c.conn.MaxMessage())
	n, err := c.conn.Receive(ctx, b)
	if err != nil {
		return none, err
	}
	var l Lease
	if err := l.UnmarshalBinary(b[:n]); err != nil {
		return none, err
	}
	return l.BlocksRef() // typed: another schema's blocks, or fewer rights, are an error
}

// writeByLease writes one block that the owner leased.
func (c *client) writeByLease(ctx context.Context) error {
	blocks, err := c.lease(ctx, 7, 1)
	if err != nil {
		return err
	}
	err = barewire.With(c.mine, func(w BlockWindow[barewire.Local]) error {
		mine, err := barewire.Slice(w)
		if err == nil {
			mine[0] = Block{Model: 1, Layer: 5, From: 7000, Keys: [496]float32{0.5}, Values: [496]float32{495: -1}}
		}
		return err
	})
	if err != nil {
		return err
	}
	op, err := rdma.WriteNotify(c.conn, blocks, c.mine.Span(0, 1), wrote)
	if err != nil {
		return err
	}
	c.say("got a lease, a message with a reference to %d block to read and write; wrote it", blocks.Len())
	if err := op.Wait(ctx); err != nil {
		return err
	}
	_, err = c.mail.expect(ctx, wrote)
	return err
}

// forge makes, from a reference that may be read, one that says it may be
// written, as a program could that does not play by the rules.
func (c *client) forge(ctx context.Context) error {
	b, err := barewire.AppendRemote(nil, c.blocks)
	if err != nil {
		return err
	}
	var ref barewire.Ref
	if err := ref.Decode(b); err != nil {
		return err
	}
	//barewire:ignore BW5008 that the peer refuses it is what is shown
	ref.Rights |= barewire.WriteRight
	forged, err := barewire.RemoteFrom(ref.Append(nil), BlockRemoteReadWrite())
	if err != nil {
		return err
	}
	err = barewire.With(c.mine, func(w BlockWindow[barewire.Local]) error {
		BlockAt(w, 0).SetLayer(forgedLayer)
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.mail.put(ctx, forging, Mail{}); err != nil {
		return err
	}
	if _, err := rdma.Write(c.conn, forged.Slice(0, 1), c.mine.Span(0, 1)); err != nil {
		return err
	}
	err = c.conn.Flush(ctx)
	c.say("forged a reference that may write, and wrote. Flush fails, for: %v", c.conn.Err())
	return claim(errors.Is(err, rdma.ErrRights), "Flush tells that a write was refused: %v", err)
}
