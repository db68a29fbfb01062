package good

import (
	"context"
	"errors"
	"sync"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// LW is a window on a region that only this side may change.
type LW = sample.TickWindow[barewire.Local]

func GoodWriteThenReuse(ctx context.Context, c *rdma.Conn, m *L, rem Rem, w LW) error {
	v := sample.TickAt(w, 0)
	for i := range 4 {
		v.SetPrice(float64(i))
		op, err := rdma.Write(c, rem, m.Span(0, 1))
		if err != nil {
			return err
		}
		if err := op.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// GoodDoubleBuffer fills one half while the other is sent.
func GoodDoubleBuffer(ctx context.Context, c *rdma.Conn, m *L, rem Rem, n int) error {
	return barewire.With(m, func(w LW) error {
		var ops [2]rdma.Op
		for i := range n {
			half := i % 2
			if i > 1 {
				if err := ops[half].Wait(ctx); err != nil {
					return err
				}
			}
			sample.TickAt(w, half).SetTime(int64(i))
			op, err := rdma.Write(c, rem.Slice(half, 1), m.Span(half, 1))
			if err != nil {
				return err
			}
			ops[half] = op
		}
		return c.Flush(ctx)
	})
}

func GoodOtherElement(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	return barewire.With(m, func(w LW) error {
		op, err := rdma.Read(c, m.Span(0, 1), rem)
		if err != nil {
			return err
		}
		sample.TickAt(w, 1).SetPrice(3)
		return op.Wait(ctx)
	})
}

func GoodUnknownElement(ctx context.Context, c *rdma.Conn, m *L, rem Rem, i, j int) error {
	return barewire.With(m, func(w LW) error {
		op, err := rdma.Read(c, m.Span(i, 1), rem)
		if err != nil {
			return err
		}
		sample.TickAt(w, j).SetPrice(3)
		return op.Wait(ctx)
	})
}

// GoodPrepareNext fills the next element while the last one goes out.
func GoodPrepareNext(ctx context.Context, c *rdma.Conn, m *L, rem Rem, n int) error {
	return barewire.With(m, func(w LW) error {
		sample.TickAt(w, 0).SetHits(0)
		for i := range n {
			op, err := rdma.Write(c, rem.Slice(i, 1), m.Span(i, 1))
			if err != nil {
				return err
			}
			if i+1 < n {
				sample.TickAt(w, i+1).SetHits(uint32(i))
			}
			if err := op.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// GoodPipelined waits for all at the end, and writes each element before it is posted.
func GoodPipelined(ctx context.Context, c *rdma.Conn, m *L, rem Rem, n int) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	for i := range n {
		sample.TickAt(w, i).SetHits(uint32(i))
		if _, err := rdma.Write(c, rem.Slice(i, 1), m.Span(i, 1)); err != nil {
			return err
		}
	}
	return c.Flush(ctx)
}

func GoodReadWhileSent(ctx context.Context, c *rdma.Conn, m *L, rem Rem) (price float64, err error) {
	err = barewire.With(m, func(w LW) error {
		op, err := rdma.Write(c, rem, m.Span(0, 1))
		if err != nil {
			return err
		}
		price = sample.TickAt(w, 0).Price()
		return op.Wait(ctx)
	})
	return price, err
}

// GoodBatchLater fills elements after they were given to the batch: nothing is posted yet.
func GoodBatchLater(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	return barewire.With(m, func(w LW) error {
		b := c.Batch()
		if _, err := rdma.Write(b, rem, m.Span(0, 1)); err != nil {
			return err
		}
		sample.TickAt(w, 0).SetPrice(1)
		if err := b.Post(); err != nil {
			return err
		}
		return c.Flush(ctx)
	})
}

// GoodAnyPoster may be given a batch.
func GoodAnyPoster(ctx context.Context, p rdma.Poster, c *rdma.Conn, m *L, rem Rem) error {
	return barewire.With(m, func(w LW) error {
		if _, err := rdma.Write(p, rem, m.Span(0, 1)); err != nil {
			return err
		}
		sample.TickAt(w, 0).SetPrice(1)
		return c.Flush(ctx)
	})
}

// GoodReply waits for the peer, which answers what it was sent.
func GoodReply(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	return barewire.With(m, func(w LW) error {
		buf := make([]byte, 64)
		for range 8 {
			sample.TickAt(w, 0).SetPrice(1)
			if _, err := rdma.WriteNotify(c, rem, m.Span(0, 1), 1); err != nil {
				return err
			}
			if _, err := c.Receive(ctx, buf); err != nil {
				return err
			}
		}
		return c.Flush(ctx)
	})
}

func GoodOtherRegion(ctx context.Context, c *rdma.Conn, m, n *L, rem Rem) error {
	return barewire.With(n, func(w LW) error {
		op, err := rdma.Write(c, rem, m.Span(0, 1))
		if err != nil {
			return err
		}
		sample.TickAt(w, 0).SetPrice(1)
		return op.Wait(ctx)
	})
}

// GoodOneField reads one field in, while others change.
func GoodOneField(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	return barewire.With(m, func(w LW) error {
		op, err := rdma.ReadField(c, sample.TickPriceIn(m.Span(0, 1), 0), sample.TickPriceOf(rem, 0))
		if err != nil {
			return err
		}
		sample.TickAt(w, 0).SetQty(1)
		return op.Wait(ctx)
	})
}

// GoodDispatcher learns from another goroutine that the operation has ended.
func GoodDispatcher(ctx context.Context, c *rdma.Conn, m *L, rem Rem, ended <-chan struct{}, wg *sync.WaitGroup, flag bool) error {
	return barewire.With(m, func(w LW) error {
		_, err := rdma.Write(c, rem, m.Span(0, 1))
		if err != nil {
			return err
		}
		if flag {
			<-ended
		} else {
			wg.Wait()
		}
		sample.TickAt(w, 0).SetPrice(1)
		return c.Flush(ctx)
	})
}

func GoodPolled(c *rdma.Conn, m *L, rem Rem) error {
	return barewire.With(m, func(w LW) error {
		op, err := rdma.Read(c, m.Span(0, 1), rem)
		if err != nil {
			return err
		}
		for !op.Done() {
			time.Sleep(time.Microsecond)
		}
		if sample.TickAt(w, 0).Live() == 0 {
			return errors.New("not live")
		}
		return nil
	})
}

// GoodAtomics are what is made for memory that others change.
func GoodAtomics(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	return barewire.With(m, func(w LW) error {
		op, err := rdma.Write(c, rem, m.Span(0, 1))
		if err != nil {
			return err
		}
		sample.TickHitsAtomic(w, 0).Store(1)
		return op.Wait(ctx)
	})
}

func setIf(v sample.TickView, yes bool) {
	if yes {
		v.SetPrice(1)
	}
}

// GoodMayWrite does not surely write.
func GoodMayWrite(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	return barewire.With(m, func(w LW) error {
		op, err := rdma.Write(c, rem, m.Span(0, 1))
		if err != nil {
			return err
		}
		setIf(sample.TickAt(w, 0), false)
		return op.Wait(ctx)
	})
}

// GoodReadAfterFlush has both ends, and asks for what has arrived.
func GoodReadAfterFlush(ctx context.Context, c *rdma.Conn, here *L, there *sample.TickCPU[barewire.RemoteReadWrite]) (price float64, err error) {
	rem, err := rdma.RemoteOf(there)
	if err != nil {
		return 0, err
	}
	if _, err := rdma.Write(c, rem, here.Span(0, 1)); err != nil {
		return 0, err
	}
	if err := c.Flush(ctx); err != nil {
		return 0, err
	}
	err = barewire.With(there, func(w sample.TickWindow[barewire.RemoteReadWrite]) error {
		price = sample.TickAt(w, 0).Price()
		return nil
	})
	return price, err
}

func GoodReadAfterNotification(ctx context.Context, c, peer *rdma.Conn, here *L, there *sample.TickCPU[barewire.RemoteReadWrite]) (price float64, err error) {
	rem, err := rdma.RemoteOf(there)
	if err != nil {
		return 0, err
	}
	op, err := rdma.WriteNotify(c, rem, here.Span(0, 1), 1)
	if err != nil {
		return 0, err
	}
	if err := op.Wait(ctx); err != nil {
		return 0, err
	}
	if _, err := peer.NextNotification(ctx); err != nil {
		return 0, err
	}
	w, err := barewire.Open(there)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	return sample.TickAt(w, 0).Price(), nil
}

func GoodReadOtherElement(ctx context.Context, c *rdma.Conn, here *L, there *sample.TickCPU[barewire.RemoteReadWrite]) (price float64, err error) {
	rem, err := rdma.RemoteOf(there)
	if err != nil {
		return 0, err
	}
	op, err := rdma.Write(c, rem.Slice(4, 1), here.Span(0, 1))
	if err != nil {
		return 0, err
	}
	w, err := barewire.Open(there)
	if err != nil {
		return 0, errors.Join(err, op.Wait(ctx))
	}
	defer w.Close()
	return sample.TickAt(w, 0).Price(), op.Wait(ctx)
}

// GoodReference is for somebody else to write by.
func GoodReference(m *sample.TickCPU[barewire.RemoteReadWrite], send func(Rem) error) error {
	rem, err := rdma.RemoteOf(m)
	if err != nil {
		return errors.Join(err, m.Close())
	}
	return errors.Join(send(rem.Slice(0, 1)), m.Close())
}
