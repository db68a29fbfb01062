package shm

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// The conformance suite is written for both sides in one process. For it to run between two, one side's provider
// is here a stub of one that is in another process: each call of it is told to that process, which has the memory
// mapped too, carries the call out and tells the result. The suite does not know.

// farCall is a call, or what becomes of one that was made before.
type farCall struct {
	ID     uint64
	On     int    // the object it is a method of, 0 for the provider
	Method string // "cancel": the context of the call with this ID has ended; "answer": to its question
	Bytes  []byte
	Text   string
	Config farConfig
	Queue  int // of Register: 0 none, -1 another provider's
	Memory farMemory
	Rights barewire.Rights
	Keys   rdma.Keys
	Key    rdma.RKey
	Epoch  uint32
	Posts  []farRequest
	Recvs  []farRequest
	N      int
	Err    *farError
}

// farReply is the result of a call, or a question that it has on the way: for the answer to a hello.
type farReply struct {
	ID     uint64
	Asks   bool
	On     int // the object that was made
	Bytes  []byte
	Text   string
	Limits rdma.Limits
	Keys   rdma.Keys
	N      int
	Done   bool
	Result uint64
	Comps  []farCompletion
	Left   [3]int

	Process *rdma.Process
	Err     *farError
}

type farConfig struct {
	Depth, MaxMessage, Credits  int
	OpTimeout, HandshakeTimeout time.Duration
	Mode                        rdma.Mode
}

// farMemory is memory to register: its file goes beside.
type farMemory struct {
	None, File bool // no memory at all; there is a file
	Misaligned uintptr
	Len        int
	Offset     int64
	Name       string
}

// farSegment is a piece of memory that was registered: by its number, since the two processes have it at different addresses.
type farSegment struct {
	Memory, Off, Len int
	Key              rdma.LKey
}

// farRequest is a work request, or a receive.
type farRequest struct {
	ID                     uint64
	Verb                   rdma.Verb
	Fence, Solicited       bool
	Count                  uint8
	Epoch                  uint32
	Key                    rdma.RKey
	Addr, Compare, Operand uint64
	Imm                    uint32
	Invalidate             rdma.RKey
	Segs                   [rdma.MaxSegments]farSegment
}

type farCompletion struct {
	C   rdma.Completion
	Err *farError
}

// farError is an error of the other process.
type farError struct {
	Text   string
	Status *rdma.StatusError
	Is     []int // of farErrors
}

// farErrors are those that somebody looks for.
var farErrors = []error{context.Canceled, context.DeadlineExceeded, rdma.ErrRefused, rdma.ErrClosed, errFull, errClosed}

func tellError(err error) *farError {
	if err == nil {
		return nil
	}
	e := &farError{Text: err.Error()}
	if s := (*rdma.StatusError)(nil); errors.As(err, &s) {
		e.Status = s
	}
	for i, known := range farErrors {
		if errors.Is(err, known) {
			e.Is = append(e.Is, i)
		}
	}
	return e
}

func (e *farError) Error() string { return e.Text }

// Unwrap is the errors that it is, too.
func (e *farError) Unwrap() (are []error) {
	if e.Status != nil {
		are = append(are, e.Status)
	}
	for _, i := range e.Is {
		are = append(are, farErrors[i])
	}
	return are
}

// heard is the error as callers know it: nil, one with a status, or another.
func (e *farError) heard() error {
	switch {
	case e == nil:
		return nil
	case e.Status != nil && e.Status.Error() == e.Text:
		return e.Status
	}
	return e
}

// farServer is the second process: objects, by number.
type farServer struct {
	files *net.UnixConn // descriptors come here

	mu      sync.Mutex
	out     *gob.Encoder
	next    int
	objects map[int]any
	memory  map[int][]byte
	cancels map[uint64]context.CancelFunc
	answers map[uint64]chan farCall
}

// far serves until its parent is gone. It has been given two sockets.
func far(string) error {
	calls, err := net.FileConn(os.NewFile(3, "calls"))
	if err != nil {
		return err
	}
	files, err := net.FileConn(os.NewFile(4, "files"))
	if err != nil {
		return err
	}
	s := &farServer{files: files.(*net.UnixConn), out: gob.NewEncoder(calls), objects: map[int]any{0: Provider()},
		memory: map[int][]byte{}, cancels: map[uint64]context.CancelFunc{}, answers: map[uint64]chan farCall{}}
	in := gob.NewDecoder(calls)
	for {
		var c farCall
		if err := in.Decode(&c); err != nil {
			return nil
		}
		s.mu.Lock()
		cancel, answer := s.cancels[c.ID], s.answers[c.ID]
		switch {
		case c.Method == "cancel":
			if cancel != nil {
				cancel()
			}
		case c.Method == "answer":
			answer <- c
		default:
			ctx, cancel := context.WithCancel(context.Background())
			s.cancels[c.ID] = cancel
			s.answers[c.ID] = make(chan farCall, 1)
			go s.serve(ctx, c)
		}
		s.mu.Unlock()
	}
}

func (s *farServer) serve(ctx context.Context, c farCall) {
	s.mu.Lock()
	on := s.objects[c.On]
	s.mu.Unlock()
	r := &farReply{ID: c.ID}
	err := s.call(ctx, on, &c, r)
	r.Err = tellError(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancels[c.ID]()
	delete(s.cancels, c.ID)
	delete(s.answers, c.ID)
	_ = s.out.Encode(r)
}

// made gives an object a number.
func (s *farServer) made(o any, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.objects[s.next] = o
	return s.next, nil
}

func (s *farServer) call(ctx context.Context, on any, c *farCall, r *farReply) (err error) {
	switch on := on.(type) {
	case rdma.Provider:
		if c.Method == "count" {
			r.Left = countSelf()
			return nil
		}
		if c.Method == "unmap" {
			s.unmap(c.N)
			return nil
		}
		a, err := on.Open(ctx, c.Text, &rdma.Config{Depth: c.Config.Depth, MaxMessage: c.Config.MaxMessage, Credits: c.Config.Credits,
			OpTimeout: c.Config.OpTimeout, HandshakeTimeout: c.Config.HandshakeTimeout, Mode: c.Config.Mode})
		if err != nil {
			return err
		}
		r.Limits = a.Limits()
		r.On, err = s.made(a, nil)
		return err
	case rdma.Adapter:
		if c.Method == "close" {
			return on.Close()
		}
		d, err := on.NewDomain()
		r.On, err = s.made(d, err)
		return err
	case rdma.ProtectionDomain:
		return s.callDomain(ctx, on, c, r)
	case rdma.Acceptor:
		if c.Method == "close" {
			return on.Close()
		}
		q, err := on.Accept(ctx, func(hello []byte) ([]byte, error) { return s.ask(c.ID, hello) })
		return s.connected(q, err, r)
	case rdma.Queue:
		return s.callQueue(ctx, on, c, r)
	}
	return fmt.Errorf("no object %d", c.On)
}

// ask has the other process answer a hello.
func (s *farServer) ask(id uint64, hello []byte) ([]byte, error) {
	s.mu.Lock()
	answer := s.answers[id]
	err := s.out.Encode(&farReply{ID: id, Asks: true, Bytes: hello})
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	c := <-answer
	return c.Bytes, c.Err.heard()
}

func (s *farServer) connected(q rdma.Queue, err error, r *farReply) error {
	if r.On, err = s.made(q, err); err == nil {
		r.Bytes, r.Text, r.Process = q.Hello(), q.Peer(), q.(rdma.Identified).Process()
	}
	return err
}

func (s *farServer) callDomain(ctx context.Context, on rdma.ProtectionDomain, c *farCall, r *farReply) error {
	switch c.Method {
	case "register":
		return s.register(on, c, r)
	case "deregister":
		return on.Deregister(ctx, c.Keys)
	case "listen":
		l, err := on.Listen(ctx, c.Text)
		if r.On, err = s.made(l, err); err == nil {
			r.Text = l.Addr()
		}
		return err
	case "dial":
		q, err := on.Dial(ctx, c.Text, c.Bytes)
		return s.connected(q, err, r)
	}
	return on.Close()
}

// register maps the memory as the other process has it, and registers that. N of the reply is its number.
func (s *farServer) register(on rdma.ProtectionDomain, c *farCall, r *farReply) error {
	m := rdma.Memory{Len: c.Memory.Len, Name: c.Memory.Name}
	var mem []byte
	var file *os.File
	if !c.Memory.None {
		fd, flags := -1, unix.MAP_PRIVATE|unix.MAP_ANON
		if c.Memory.File {
			var err error
			if fd, err = s.descriptor(); err != nil {
				return err
			}
			file, flags = os.NewFile(uintptr(fd), "memory"), unix.MAP_SHARED
			defer file.Close()
			m.File = func() (*os.File, int64, error) { return file, c.Memory.Offset, nil }
		}
		n := (max(c.Memory.Len, 1) + os.Getpagesize() - 1) &^ (os.Getpagesize() - 1)
		var err error
		if mem, err = unix.Mmap(fd, max(c.Memory.Offset, 0), n, unix.PROT_READ|unix.PROT_WRITE, flags); err != nil {
			return err
		}
		m.Base = unsafe.Add(unsafe.Pointer(&mem[0]), c.Memory.Misaligned)
	}
	var conn rdma.Queue
	if c.Queue != 0 {
		s.mu.Lock()
		conn, _ = s.objects[c.Queue].(rdma.Queue)
		s.mu.Unlock()
	}
	if c.Queue < 0 {
		conn = struct{ rdma.Queue }{}
	}
	var err error
	if r.Keys, err = on.Register(m, c.Rights, conn); err != nil {
		if mem != nil {
			_ = unix.Munmap(mem)
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	r.N = s.next
	s.memory[r.N] = mem
	return nil
}

func (s *farServer) unmap(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mem := s.memory[n]; mem != nil {
		_ = unix.Munmap(mem)
		delete(s.memory, n)
	}
}

// descriptor takes one that comes beside a call.
func (s *farServer) descriptor() (int, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := s.files.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return -1, err
	}
	fds, err := passed(oob[:n])
	if err != nil || len(fds) != 1 {
		return -1, errors.Join(err, fmt.Errorf("%d descriptors", len(fds)))
	}
	return fds[0], nil
}

// at is a segment in this process's memory. One that is in no memory is nowhere.
func (s *farServer) at(g farSegment) rdma.Segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mem := s.memory[g.Memory]; mem != nil {
		return rdma.Segment{Ptr: unsafe.Add(unsafe.Pointer(&mem[0]), g.Off), Len: g.Len, Key: g.Key}
	}
	return rdma.Segment{Len: g.Len, Key: g.Key}
}

func (s *farServer) requests(posts []farRequest) (wrs []rdma.WorkRequest) {
	for _, p := range posts {
		wr := rdma.WorkRequest{ID: p.ID, Verb: p.Verb, Fence: p.Fence, Segs: p.Count, Epoch: p.Epoch, Key: p.Key,
			Addr: p.Addr, Compare: p.Compare, Operand: p.Operand, Imm: p.Imm, Solicited: p.Solicited, Invalidate: p.Invalidate}
		for i, g := range p.Segs {
			wr.Local[i] = s.at(g)
		}
		wrs = append(wrs, wr)
	}
	return wrs
}

func (s *farServer) callQueue(ctx context.Context, on rdma.Queue, c *farCall, r *farReply) (err error) {
	switch c.Method {
	case "prepare":
		return on.Prepare(ctx, c.Key, c.Epoch)
	case "post":
		r.N, err = on.Post(s.requests(c.Posts))
		return err
	case "now":
		r.Result, r.Done, err = on.(rdma.Immediate).PostNow(&s.requests(c.Posts)[0])
		return err
	case "receive":
		var recvs []rdma.ReceiveRequest
		for _, p := range c.Recvs {
			recvs = append(recvs, rdma.ReceiveRequest{ID: p.ID, Buf: s.at(p.Segs[0])})
		}
		return on.PostReceive(recvs)
	case "poll":
		out := make([]rdma.Completion, c.N)
		for _, comp := range slices.Clone(out[:on.Poll(out)]) {
			err := tellError(comp.Err)
			comp.Err = nil
			r.Comps = append(r.Comps, farCompletion{comp, err})
		}
		return nil
	case "wait":
		return on.Wait(ctx)
	case "abort":
		if c.Text == "" {
			on.Abort(nil)
		} else {
			on.Abort(errors.New(c.Text))
		}
		return nil
	}
	return on.Close()
}
