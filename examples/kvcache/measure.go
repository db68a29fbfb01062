package main

import (
	"context"
	"slices"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// How much is measured: until one of them is reached.
const maxRounds = 20000

var maxTime = 300 * time.Millisecond // tests take less

// repeat does something often and returns how long it took each time, shortest first.
func repeat(do func() error) ([]time.Duration, error) {
	took := make([]time.Duration, 0, maxRounds)
	for end := time.Now().Add(maxTime); len(took) < maxRounds; {
		from := time.Now()
		if err := do(); err != nil {
			return nil, err
		}
		now := time.Now()
		if took = append(took, now.Sub(from)); now.After(end) {
			break
		}
	}
	slices.Sort(took)
	return took, nil
}

// measureLatency sends a mail of 64 bytes there and back.
func (c *client) measureLatency(ctx context.Context) error {
	number := uint64(0)
	took, err := repeat(func() error {
		number++
		x, err := c.mail.ask(ctx, ping, Mail{Number: number})
		if err != nil {
			return err
		}
		return claim(x.Number == number, "a mail comes back as it went: %d, %d", x.Number, number)
	})
	if err != nil {
		return err
	}
	c.say("%d B there and back with notification, %d times: p50 %v, p99 %v",
		MailBinarySize, len(took), round(took[len(took)/2]), round(took[len(took)*99/100]))
	return nil
}

// measureThroughput writes and reads all blocks at once.
func (c *client) measureThroughput(ctx context.Context) error {
	blocks, err := c.lease(ctx, 0, blockCount)
	if err != nil {
		return err
	}
	if err := c.fill(1); err != nil {
		return err
	}
	if _, err := c.mail.ask(ctx, startMoving, Mail{}); err != nil {
		return err
	}
	all := c.mine.Span(0, blockCount)
	writes, err := repeat(func() error {
		op, err := rdma.Write(c.conn, blocks, all)
		if err != nil {
			return err
		}
		if err := op.Wait(ctx); err != nil { // the local memory may be used again
			return err
		}
		return c.conn.Flush(ctx) // and it is at the owner
	})
	if err != nil {
		return err
	}
	if err := c.fill(2); err != nil { // what is read then is what was written
		return err
	}
	reads, err := repeat(func() error {
		op, err := rdma.Read(c.conn, all, blocks)
		if err != nil {
			return err
		}
		return op.Wait(ctx)
	})
	if err != nil {
		return err
	}
	if _, err := c.mail.ask(ctx, moved, Mail{Number: uint64(len(writes)+len(reads)) * blockCount * BlockBinarySize}); err != nil {
		return err
	}
	here := copying()
	c.say("wrote 1 MiB at a time at %.1f GB/s, read at %.1f GB/s; copy() in one process does %.1f GB/s", speed(writes), speed(reads), speed(here))
	return c.filled(1)
}

// fill makes the blocks here tell which they are, and a mark.
func (c *client) fill(mark uint32) error {
	return barewire.With(c.mine, func(w BlockWindow[barewire.Local]) error {
		for i, b := range BlockAll(w) {
			b.SetLayer(mark)
			b.SetFrom(uint64(i))
		}
		return nil
	})
}

// filled checks what fill did.
func (c *client) filled(mark uint32) error {
	return barewire.With(c.mine, func(w BlockWindow[barewire.Local]) error {
		for i, b := range BlockAll(w) {
			if err := claim(b.Layer() == mark && b.From() == uint64(i), "block %d comes back as it went: %d, %d", i, b.Layer(), b.From()); err != nil {
				return err
			}
		}
		return nil
	})
}

// copying is how long a plain copy of as much takes.
func copying() []time.Duration {
	from, to := make([]Block, blockCount), make([]Block, blockCount)
	for i := range from {
		from[i].Layer = 1 // so that it is memory, and not the kernel's page of zeros
	}
	took, _ := repeat(func() error {
		copy(to, from)
		return nil
	})
	return took
}

// speed is GB/s by the median.
func speed(took []time.Duration) float64 {
	return float64(blockCount*BlockBinarySize) / float64(took[len(took)/2].Nanoseconds())
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Nanosecond) }
