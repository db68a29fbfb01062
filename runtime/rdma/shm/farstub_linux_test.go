package shm

import (
	"context"
	"encoding/gob"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// farProcess is the second process as the first has it. As a provider, it opens each second device there
// and the others here, so that two sides that are opened one after the other are in two processes.
type farProcess struct {
	provider
	pid     int
	files   *net.UnixConn
	sending sync.Mutex // of a descriptor, with the call that it is for

	mu      sync.Mutex
	out     *gob.Encoder
	next    uint64
	opened  int
	pending map[uint64]*farPending
	memory  map[int]rdma.Memory // that is registered there, by its number
}

type farPending struct {
	reply  chan farReply
	answer func([]byte) ([]byte, error)
}

func startFar(t *testing.T) *farProcess {
	t.Helper()
	pair := func(typ int) (*net.UnixConn, *os.File) {
		fds, err := unix.Socketpair(unix.AF_UNIX, typ|unix.SOCK_CLOEXEC, 0)
		fatal(t, err)
		mine, theirs := os.NewFile(uintptr(fds[0]), "mine"), os.NewFile(uintptr(fds[1]), "theirs")
		c, err := net.FileConn(mine)
		fatal(t, err)
		fatal(t, mine.Close())
		return c.(*net.UnixConn), theirs
	}
	calls, theirs := pair(unix.SOCK_STREAM)
	files, theirFiles := pair(unix.SOCK_SEQPACKET)
	exe, err := os.Executable()
	fatal(t, err)
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), helperRole+"=far")
	var says strings.Builder
	cmd.Stderr = &says
	cmd.ExtraFiles = []*os.File{theirs, theirFiles}
	fatal(t, cmd.Start())
	fatal(t, theirs.Close())
	fatal(t, theirFiles.Close())
	p := &farProcess{pid: cmd.Process.Pid, files: files, out: gob.NewEncoder(calls), pending: map[uint64]*farPending{}, memory: map[int]rdma.Memory{}}
	go p.read(gob.NewDecoder(calls))
	t.Cleanup(func() {
		_ = calls.Close()
		_ = files.Close()
		err := cmd.Wait()
		if err != nil || t.Failed() {
			t.Errorf("the other process ended with %v, and said: %s", err, says.String())
		}
	})
	return p
}

// read takes replies, and has questions answered.
func (p *farProcess) read(in *gob.Decoder) {
	for {
		var r farReply
		if err := in.Decode(&r); err != nil {
			return
		}
		p.mu.Lock()
		wait := p.pending[r.ID]
		p.mu.Unlock()
		if r.Asks {
			go func() {
				b, err := wait.answer(r.Bytes)
				p.tell(&farCall{ID: r.ID, Method: "answer", Bytes: b, Err: tellError(err)})
			}()
			continue
		}
		wait.reply <- r
	}
}

func (p *farProcess) tell(c *farCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.out.Encode(c)
}

// PeerOf is the process that the peer of a queue is in.
func (p *farProcess) PeerOf(q rdma.Queue) int {
	if _, ok := q.(*farQueue); ok {
		return os.Getpid()
	}
	return p.pid
}

// call has a call carried out. The error is the reply's, or the context's.
func (p *farProcess) call(ctx context.Context, c farCall, answer func([]byte) ([]byte, error)) (farReply, error) {
	wait := &farPending{make(chan farReply, 1), answer}
	p.mu.Lock()
	p.next++
	c.ID = p.next
	p.pending[c.ID] = wait
	err := p.out.Encode(&c)
	p.mu.Unlock()
	if err != nil {
		return farReply{}, err
	}
	defer func() {
		p.mu.Lock()
		delete(p.pending, c.ID)
		p.mu.Unlock()
	}()
	select {
	case r := <-wait.reply:
		return r, r.Err.heard()
	case <-ctx.Done():
		p.tell(&farCall{ID: c.ID, Method: "cancel"})
	}
	r := <-wait.reply
	if r.Err != nil && slices.Contains(r.Err.Is, 0) {
		return r, ctx.Err()
	}
	return r, r.Err.heard()
}

// do is call without a context.
func (p *farProcess) do(c farCall) (farReply, error) { return p.call(context.Background(), c, nil) }

func (p *farProcess) Open(ctx context.Context, name string, cfg *rdma.Config) (rdma.Adapter, error) {
	p.mu.Lock()
	p.opened++
	here := p.opened%2 == 1
	p.mu.Unlock()
	if here {
		return p.provider.Open(ctx, name, cfg)
	}
	r, err := p.call(ctx, farCall{Method: "open", Text: name, Config: farConfig{cfg.Depth, cfg.MaxMessage, cfg.Credits, cfg.OpTimeout, cfg.HandshakeTimeout, cfg.Mode}}, nil)
	if err != nil {
		return nil, err
	}
	return &farAdapter{p: p, on: r.On, limits: r.Limits}, nil
}

type farAdapter struct {
	p      *farProcess
	on     int
	limits rdma.Limits

	mu      sync.Mutex
	domains []*farDomain
}

func (a *farAdapter) Info() rdma.DeviceInfo { return info() }
func (a *farAdapter) Limits() rdma.Limits   { return a.limits }

func (a *farAdapter) NewDomain() (rdma.ProtectionDomain, error) {
	r, err := a.p.do(farCall{On: a.on, Method: "domain"})
	if err != nil {
		return nil, err
	}
	d := &farDomain{p: a.p, on: r.On, numbers: map[rdma.LKey]int{}}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.domains = append(a.domains, d)
	return d, nil
}

func (a *farAdapter) Close() error {
	_, err := a.p.do(farCall{On: a.on, Method: "close"})
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.domains {
		if err == nil {
			d.unmap()
		}
	}
	return err
}

type farDomain struct {
	p       *farProcess
	on      int
	mu      sync.Mutex
	numbers map[rdma.LKey]int // of memory
}

func (d *farDomain) Register(m rdma.Memory, rights barewire.Rights, conn rdma.Queue) (rdma.Keys, error) {
	c := farCall{On: d.on, Method: "register", Rights: rights, Memory: farMemory{Len: m.Len, Name: m.Name, None: m.Base == nil}}
	c.Memory.Misaligned = uintptr(m.Base) % uintptr(os.Getpagesize())
	if conn != nil {
		c.Queue = -1
		if q, ok := conn.(*farQueue); ok {
			c.Queue = q.on
		}
	}
	d.p.sending.Lock()
	defer d.p.sending.Unlock()
	if m.File != nil && m.Base != nil {
		f, offset, err := m.File()
		if err == nil {
			c.Memory.File, c.Memory.Offset = true, offset
			if _, _, err := d.p.files.WriteMsgUnix([]byte{0}, unix.UnixRights(int(f.Fd())), nil); err != nil {
				return rdma.Keys{}, err
			}
		}
	}
	r, err := d.p.do(c)
	if err != nil {
		return rdma.Keys{}, err
	}
	d.p.mu.Lock()
	d.p.memory[r.N] = m
	d.p.mu.Unlock()
	d.mu.Lock()
	d.numbers[r.Keys.L] = r.N
	d.mu.Unlock()
	return r.Keys, nil
}

func (d *farDomain) Deregister(ctx context.Context, k rdma.Keys) error {
	d.mu.Lock()
	n := d.numbers[k.L]
	d.mu.Unlock()
	_, err := d.p.call(ctx, farCall{On: d.on, Method: "deregister", Keys: k}, nil)
	if err == nil && n != 0 {
		d.forget(k.L, n)
	}
	return err
}

// forget has memory unmapped that is registered no longer.
func (d *farDomain) forget(k rdma.LKey, n int) {
	d.mu.Lock()
	delete(d.numbers, k)
	d.mu.Unlock()
	d.p.mu.Lock()
	delete(d.p.memory, n)
	d.p.mu.Unlock()
	_, _ = d.p.do(farCall{Method: "unmap", N: n})
}

// unmap forgets what is left when all is closed.
func (d *farDomain) unmap() {
	d.mu.Lock()
	numbers := maps.Clone(d.numbers)
	d.mu.Unlock()
	for k, n := range numbers {
		d.forget(k, n)
	}
}

func (d *farDomain) Listen(ctx context.Context, addr string) (rdma.Acceptor, error) {
	r, err := d.p.call(ctx, farCall{On: d.on, Method: "listen", Text: addr}, nil)
	if err != nil {
		return nil, err
	}
	return &farAcceptor{d.p, r.On, r.Text}, nil
}

func (d *farDomain) Dial(ctx context.Context, addr string, hello []byte) (rdma.Queue, error) {
	r, err := d.p.call(ctx, farCall{On: d.on, Method: "dial", Text: addr, Bytes: hello}, nil)
	return d.p.queue(r, err)
}

func (d *farDomain) Close() error {
	_, err := d.p.do(farCall{On: d.on, Method: "close"})
	if err == nil {
		d.unmap()
	}
	return err
}

type farAcceptor struct {
	p    *farProcess
	on   int
	addr string
}

func (l *farAcceptor) Addr() string { return l.addr }

func (l *farAcceptor) Accept(ctx context.Context, answer func(hello []byte) ([]byte, error)) (rdma.Queue, error) {
	r, err := l.p.call(ctx, farCall{On: l.on, Method: "accept"}, answer)
	return l.p.queue(r, err)
}

func (l *farAcceptor) Close() error {
	_, err := l.p.do(farCall{On: l.on, Method: "close"})
	return err
}

type farQueue struct {
	p       *farProcess
	on      int
	hello   []byte
	peer    string
	process *rdma.Process
}

func (p *farProcess) queue(r farReply, err error) (rdma.Queue, error) {
	if err != nil {
		return nil, err
	}
	return &farQueue{p, r.On, r.Bytes, r.Text, r.Process}, nil
}

func (q *farQueue) Hello() []byte { return slices.Clone(q.hello) }
func (q *farQueue) Peer() string  { return q.peer }

func (q *farQueue) Process() *rdma.Process { return q.process }

// segment says which memory a segment is in: the one that it begins in.
func (p *farProcess) segment(s rdma.Segment) farSegment {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n, m := range p.memory {
		if off := uintptr(s.Ptr) - uintptr(m.Base); off < uintptr(m.Len) {
			return farSegment{n, int(off), s.Len, s.Key}
		}
	}
	return farSegment{Len: s.Len, Key: s.Key}
}

func (p *farProcess) requests(wrs []rdma.WorkRequest) (all []farRequest) {
	for _, wr := range wrs {
		r := farRequest{ID: wr.ID, Verb: wr.Verb, Fence: wr.Fence, Count: wr.Segs, Epoch: wr.Epoch, Key: wr.Key,
			Addr: wr.Addr, Compare: wr.Compare, Operand: wr.Operand, Imm: wr.Imm, Solicited: wr.Solicited, Invalidate: wr.Invalidate}
		for i, s := range wr.Local {
			if s != (rdma.Segment{}) {
				r.Segs[i] = p.segment(s)
			}
		}
		all = append(all, r)
	}
	return all
}

func (q *farQueue) Prepare(ctx context.Context, key rdma.RKey, epoch uint32) error {
	_, err := q.p.call(ctx, farCall{On: q.on, Method: "prepare", Key: key, Epoch: epoch}, nil)
	return err
}

func (q *farQueue) Post(wrs []rdma.WorkRequest) (int, error) {
	r, err := q.p.do(farCall{On: q.on, Method: "post", Posts: q.p.requests(wrs)})
	return r.N, err
}

func (q *farQueue) PostNow(wr *rdma.WorkRequest) (result uint64, done bool, err error) {
	r, err := q.p.do(farCall{On: q.on, Method: "now", Posts: q.p.requests(unsafe.Slice(wr, 1))})
	return r.Result, r.Done, err
}

func (q *farQueue) PostReceive(rs []rdma.ReceiveRequest) error {
	c := farCall{On: q.on, Method: "receive"}
	for _, r := range rs {
		c.Recvs = append(c.Recvs, farRequest{ID: r.ID, Segs: [rdma.MaxSegments]farSegment{q.p.segment(r.Buf)}})
	}
	_, err := q.p.do(c)
	return err
}

func (q *farQueue) Poll(out []rdma.Completion) int {
	r, err := q.p.do(farCall{On: q.on, Method: "poll", N: len(out)})
	if err != nil {
		return 0
	}
	for i, c := range r.Comps {
		out[i] = c.C
		out[i].Err = c.Err.heard()
	}
	return len(r.Comps)
}

func (q *farQueue) Wait(ctx context.Context) error {
	_, err := q.p.call(ctx, farCall{On: q.on, Method: "wait"}, nil)
	return err
}

func (q *farQueue) Abort(cause error) {
	c := farCall{On: q.on, Method: "abort"}
	if cause != nil {
		c.Text = cause.Error()
	}
	_, _ = q.p.do(c)
}

func (q *farQueue) Close() error {
	_, err := q.p.do(farCall{On: q.on, Method: "close"})
	return err
}

// left wants nothing left behind there: goroutines, descriptors, mappings.
func (p *farProcess) left(t *testing.T) [3]int {
	t.Helper()
	r, err := p.do(farCall{Method: "count"})
	fatal(t, err)
	return r.Left
}

// noMore is left, compared with before.
func (p *farProcess) noMore(t *testing.T, before [3]int) {
	t.Helper()
	var now [3]int
	for range 500 {
		now = p.left(t)
		if now[0] <= before[0] && now[1] <= before[1] && now[2] <= before[2] {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("left behind in the other process: goroutines, descriptors, mappings %v, before %v", now, before)
}
