package iwarp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Programs as users write them, for processes of their own: each has a region that it offers, and imports its peer's.

func init() {
	roles["owner"] = func(e *errand) error { return e.program(listening, (*program).own) }
	roles["peer"] = func(e *errand) error { return e.program(dialling, (*program).use) }
}

const (
	listening = true
	dialling  = false
	tickBytes = int(unsafe.Sizeof(sample.Tick{}))
)

type shared = barewire.RemoteReadWriteAtomic

// program is one side of a connection.
type program struct {
	e      *errand
	ctx    context.Context
	dev    *rdma.Device
	conn   *rdma.Conn
	region *barewire.Region[sample.Tick, barewire.CPU, shared] // what the peer may do everything with
	local  *barewire.Region[sample.Tick, barewire.CPU, barewire.Local]
	theirs barewire.Remote[sample.Tick, shared]
}

// program opens a device, connects, does what there is to do and puts everything back. Nothing may be left then.
func (e *errand) program(listens bool, do func(*program) error) error {
	before := count()
	if err := e.connected(listens, do); err != nil {
		return err
	}
	return before.noMore()
}

func (e *errand) connected(listens bool, do func(*program) error) (err error) {
	ctx, cancel := forMinutes(5)
	defer cancel()
	p := &program{e: e, ctx: ctx}
	defer func() { err = errors.Join(err, p.close()) }()
	dom, err := p.open()
	if err != nil {
		return err
	}
	if listens {
		err = p.accept(dom)
	} else {
		p.conn, err = dom.Dial(ctx, e.Addr)
	}
	if err != nil {
		return err
	}
	if err := rdma.Offer(ctx, p.conn, "ticks", p.region); err != nil {
		return err
	}
	if p.theirs, err = rdma.Import(ctx, p.conn, "ticks", sample.TickRemoteReadWriteAtomic()); err != nil {
		return err
	}
	return do(p)
}

// open opens a device and registers the regions.
func (p *program) open() (*rdma.Domain, error) {
	cfg, err := p.e.config()
	if err != nil {
		return nil, err
	}
	if p.dev, err = rdma.Open(p.ctx, cfg); err != nil {
		return nil, err
	}
	dom, err := p.dev.Domain()
	if err != nil {
		return nil, err
	}
	n := max(p.e.Bytes/tickBytes, 1)
	first, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return nil, err
	}
	if p.region, err = rdma.Register(dom, first, sample.TickRemoteReadWriteAtomic()); err != nil {
		return nil, errors.Join(err, first.Close())
	}
	second, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return nil, err
	}
	if p.local, err = rdma.Register(dom, second, sample.TickLocal()); err != nil {
		return nil, errors.Join(err, second.Close())
	}
	return dom, nil
}

// accept listens, says where, and takes one peer.
func (p *program) accept(dom *rdma.Domain) error {
	ln, err := dom.Listen(p.ctx, p.e.Addr)
	if err != nil {
		return err
	}
	defer ln.Close()
	say("at", ln.Addr())
	p.conn, err = ln.Accept(p.ctx)
	return err
}

// close puts back what there is. Regions can be closed whatever became of the connection.
func (p *program) close() error {
	var errs []error
	if p.conn != nil {
		errs = append(errs, p.conn.Close())
	}
	if p.region != nil {
		errs = append(errs, p.region.Close())
	}
	if p.local != nil {
		errs = append(errs, p.local.Close())
	}
	if p.dev != nil {
		errs = append(errs, p.dev.Close())
	}
	return errors.Join(errs...)
}

// memory calls f with the bytes of a region.
func memory[A barewire.Access](r *barewire.Region[sample.Tick, barewire.CPU, A], f func(b []byte) error) error {
	return barewire.With(r, func(w barewire.Window[sample.Tick, A]) error {
		first, n := barewire.Elements(w) //barewire:ignore BW5005 the test compares what lies in memory
		//barewire:ignore BW5010 the peers are still when it is called
		return f(unsafe.Slice((*byte)(first), n*tickBytes))
	})
}

// scramble fills memory with what belongs to a number.
func scramble(b []byte, number uint64) {
	v := number*0x9e3779b97f4a7c15 + 1
	for ; len(b) >= 8; b = b[8:] {
		v ^= v << 13
		v ^= v >> 7
		v ^= v << 17
		binary.LittleEndian.PutUint64(b, v)
	}
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}

// scrambled is an error where memory is not as scramble left it.
func scrambled(b []byte, number uint64) error {
	want := make([]byte, len(b))
	scramble(want, number)
	for i := range b {
		if b[i] != want[i] {
			return fmt.Errorf("byte %d of %d is %#x, want %#x", i, len(b), b[i], want[i])
		}
	}
	return nil
}

// messages that each side sends the other, of growing lengths, and additions to the first word.
const messages, additions = 100, 50

// note is the number that tells that the large write is there.
const note = 0xb17e5

// use does everything there is with the peer's memory: write, read back, add, swap, notify, send.
func (p *program) use() error {
	if err := memory(p.local, func(b []byte) error { scramble(b, p.e.Seed); return nil }); err != nil {
		return err
	}
	n := p.local.Len()
	if err := done(p.ctx)(rdma.Write(p.conn, p.theirs, p.local.Span(0, n))); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := p.conn.Flush(p.ctx); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	if err := memory(p.local, func(b []byte) error { clear(b); return nil }); err != nil {
		return err
	}
	if err := done(p.ctx)(rdma.Read(p.conn, p.local.Span(0, n), p.theirs)); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if err := memory(p.local, func(b []byte) error { return scrambled(b, p.e.Seed) }); err != nil {
		return fmt.Errorf("what was read: %w", err)
	}
	if err := p.count(n); err != nil {
		return err
	}
	if err := done(p.ctx)(rdma.WriteNotify(p.conn, p.theirs.Slice(1, 1), p.local.Span(1, 1), note)); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	if err := p.talk(); err != nil {
		return err
	}
	return p.conn.Drain(p.ctx)
}

// count adds to a word of the peer's, and swaps another.
func (p *program) count(n int) error {
	word := sample.TickSeqOf(p.theirs, 0)
	var start uint64
	for i := range additions {
		op, err := rdma.FetchAdd(p.conn, word, uint64(3))
		if err != nil {
			return fmt.Errorf("add: %w", err)
		}
		was, err := op.Wait(p.ctx)
		if err != nil {
			return fmt.Errorf("add: %w", err)
		}
		if i == 0 {
			start = was
		} else if was != start+3*uint64(i) {
			return fmt.Errorf("addition %d found %d, want %d", i, was, start+3*uint64(i))
		}
	}
	last := sample.TickSeqOf(p.theirs, n-1)
	for i, old := range []uint64{1, 0} { // what is there is neither, and then what the first swap told
		if i == 1 {
			if err := memory(p.local, func(b []byte) error { old = binary.LittleEndian.Uint64(b[(n-1)*tickBytes:]); return nil }); err != nil {
				return err
			}
		}
		op, err := rdma.CompareAndSwap(p.conn, last, old, 77)
		if err != nil {
			return fmt.Errorf("swap: %w", err)
		}
		if was, err := op.Wait(p.ctx); err != nil || (was == old) != (i == 1) {
			return fmt.Errorf("swap %d of %#x found %#x, %w", i, old, was, err)
		}
	}
	return nil
}

// talk sends messages and takes those of the peer.
func (p *program) talk() error {
	sent := make(chan error, 1)
	go func() {
		for i := range messages {
			b := make([]byte, 1+i*(p.conn.MaxMessage()-1)/messages)
			scramble(b, uint64(i))
			if err := p.conn.SendBytes(p.ctx, b); err != nil {
				sent <- fmt.Errorf("send: %w", err)
				return
			}
		}
		sent <- nil
	}()
	b := make([]byte, p.conn.MaxMessage())
	for i := range messages {
		n, err := p.conn.Receive(p.ctx, b)
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		want := make([]byte, 1+i*(p.conn.MaxMessage()-1)/messages)
		if scramble(want, uint64(i)); !bytes.Equal(b[:n], want) {
			return fmt.Errorf("message %d of %d bytes is not as it was sent", i, n)
		}
	}
	return <-sent
}

// own has its memory used, and looks at what became of it.
func (p *program) own() error {
	told, err := p.conn.NextNotification(p.ctx)
	if err != nil {
		return fmt.Errorf("notified: %w", err)
	}
	if told.Imm != note || told.Bytes != tickBytes {
		return fmt.Errorf("notified of %+v", told)
	}
	err = memory(p.region, func(b []byte) error {
		want := make([]byte, len(b))
		scramble(want, p.e.Seed)
		last := len(b) - tickBytes
		binary.LittleEndian.PutUint64(want, binary.LittleEndian.Uint64(want)+3*additions)
		binary.LittleEndian.PutUint64(want[last:], 77)
		if !bytes.Equal(b, want) {
			return errors.New("the region is not as the peer made it")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.talk(); err != nil {
		return err
	}
	// The peer ends the connection, when all it sent is here.
	if _, err := p.conn.Receive(p.ctx, make([]byte, 1)); !errors.Is(err, rdma.ErrPeerLost) {
		return fmt.Errorf("the end of the connection is %w", err)
	}
	return nil
}

// done waits for an operation that was posted.
func done(ctx context.Context) func(op rdma.Op, err error) error {
	return func(op rdma.Op, err error) error {
		if err != nil {
			return err
		}
		return op.Wait(ctx)
	}
}
