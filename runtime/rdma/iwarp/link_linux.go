package iwarp

import (
	"errors"
	"io"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/internal/words"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// link is the connection, as what is written to and read from. On TCP it makes the system calls itself: whoever
// posts writes without waiting, and long payloads go between socket and memory directly. Everything else goes by
// the methods of the connection, from the queue's own goroutines.
type link struct {
	q        *queue
	deadline time.Time // when the one for writing was set last

	raw                   syscall.RawConn // nil where it is not TCP
	onTry, onRoom, onRead func(fd uintptr) bool
	onLead                func(fd uintptr) bool
	onSip, onMeasure      func(fd uintptr)
	onGiveUp              func(fd uintptr)

	out    [2*maxRefs + 1]unix.Iovec
	into   [2 + 2*fpdu.MostMore]unix.Iovec
	sipped error // what came of onSip
	post   post  // with the sentry
}

// With words copied one by one nothing is copied by the kernel: it does not do so by words.
const (
	writesRefs    = !words.ByWords
	readsDirectly = !words.ByWords
	minDirect     = 8 << 10 // of a payload; what is shorter is copied
)

var (
	errOver    = errors.New("the queue has ended")
	errRevoked = errors.New("the memory was deregistered while it was sent")
)

func (l *link) open(q *queue) error {
	l.q = q
	if q.s.tcp == nil {
		return nil
	}
	raw, err := q.s.tcp.SyscallConn()
	if err != nil {
		return err
	}
	l.raw = raw
	l.onTry = func(fd uintptr) bool { l.push(fd); return true }
	l.onRoom = func(fd uintptr) bool { return l.push(fd) }
	l.onRead = l.arrives
	l.onLead = l.arrivesForWaiter
	l.onGiveUp = q.giveUp
	l.onSip = func(fd uintptr) { l.sipped = l.pull(fd) }
	l.onMeasure = func(fd uintptr) { q.s.mulpdu = mulpduOf(q.dom.adapter.sock.segmentOf(int(fd))) }
	return nil
}

// immediate reports whether try may be called.
func (l *link) immediate() bool { return l.raw != nil }

// measure asks how long a segment may be.
func (l *link) measure() {
	if l.raw != nil {
		_ = l.raw.Control(l.onMeasure) // if it fails, writing does
	}
}

// try writes what can be written without waiting. It reports whether that was all.
func (l *link) try() bool {
	o := &l.q.out
	if !o.empty() {
		if err := l.raw.Write(l.onTry); err != nil && o.err == nil {
			o.err = err
		}
	}
	return o.empty()
}

// flush writes what is left of the batch. It may wait.
func (l *link) flush() {
	if l.raw == nil {
		l.q.flushPlain()
		return
	}
	o := &l.q.out
	if o.err != nil || l.try() || o.err != nil {
		return
	}
	for !o.empty() && o.err == nil {
		l.q.writeDeadline(time.Now().Add(progress))
		if err := l.raw.Write(l.onRoom); err != nil && o.err == nil {
			o.err = err
		}
	}
	l.q.writeDeadline(time.Time{})
}

// push writes until there is no more room. It reports whether it has done anything, or cannot.
func (l *link) push(fd uintptr) bool {
	o := &l.q.out
	before := o.sent
	for o.err == nil {
		if o.empty() {
			o.forget()
			break
		}
		n, err := l.writev(fd)
		switch {
		case err == unix.EAGAIN:
			return o.sent > before
		case err == unix.EINTR:
		case err != nil:
			o.err = err
		default:
			o.sent += n
		}
	}
	return true
}

// writev makes one system call. What it reads from memory may not end meanwhile.
func (l *link) writev(fd uintptr) (int, error) {
	o := &l.q.out
	if len(o.refs) == 0 {
		return quick(unix.SYS_WRITE, fd, o.buf[o.sent:])
	}
	defer l.q.leave()
	if !l.q.enter() {
		return 0, errOver
	}
	entered := 0
	defer func() {
		for _, r := range o.refs[:entered] {
			r.reg.leave()
		}
	}()
	for i := range o.refs {
		if !o.refs[i].enter() {
			return 0, errRevoked
		}
		entered++
	}
	n := o.gather(l.out[:])
	written, _, errno := unix.Syscall(unix.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&l.out[0])), uintptr(n))
	clear(l.out[:n])
	if errno != 0 {
		return 0, errno
	}
	return int(written), nil
}

// gather lists the pieces of a batch that are not sent.
func (b *batch) gather(iov []unix.Iovec) (n int) {
	skip, from := b.sent, 0
	piece := func(p unsafe.Pointer, size int) {
		if skip >= size {
			skip -= size
			return
		}
		iov[n].Base = (*byte)(unsafe.Add(p, skip))
		iov[n].SetLen(size - skip)
		n++
		skip = 0
	}
	for i := range b.refs {
		r := &b.refs[i]
		piece(unsafe.Pointer(unsafe.SliceData(b.buf[from:])), r.at-from)
		piece(r.p, r.n)
		from = r.at
	}
	piece(unsafe.Pointer(unsafe.SliceData(b.buf[from:])), len(b.buf)-from)
	return n
}

// serve reads, and has done what comes, until the connection ends, or the queue: then there is no error.
func (l *link) serve() error {
	if l.raw == nil {
		return l.q.servePlain()
	}
	return l.raw.Read(l.onRead)
}

// arrives reads what there is, and has it done, until there is no more: an end that came with the last bytes is not
// told a second time, nor is what Poll leaves unread.
func (l *link) arrives(fd uintptr) bool {
	in := &l.q.in
	in.mu.Lock()
	defer in.mu.Unlock()
	for some := false; !in.over; {
		switch err := l.pull(fd); err {
		case nil:
			some = true
			l.q.chew()
		case unix.EINTR:
		case unix.EAGAIN:
			return some && l.q.yields(fd)
		default:
			l.q.fails(err)
		}
	}
	return true
}

// lead reads for a waiter, whose turn it is, until that is given up; or the error says why reading ended.
func (l *link) lead() error { return l.raw.Read(l.onLead) }

// arrivesForWaiter is arrives for a waiter. It ends when that has what it waits for, and leaves unread what is there beyond:
// the sentry is told to look then, and finds it. What may have to wait is the reader's.
func (l *link) arrivesForWaiter(fd uintptr) bool {
	t := &l.q.turn
	if !t.told {
		t.told = true
		l.post.tell(fd, sentryRests) // if it looks on, its report is of no use, and of no harm
	}
	if !l.readForWaiter(fd) {
		return false
	}
	l.q.giveUp(fd)
	return true
}

// readForWaiter reports whether the waiter's turn ends.
func (l *link) readForWaiter(fd uintptr) bool {
	in, t := &l.q.in, &l.q.turn
	in.mu.Lock()
	defer in.mu.Unlock()
	for n := 0; !in.over && !t.back; n++ {
		switch err := l.pull(fd); err {
		case nil:
			l.q.doForWaiter()
			if !in.full || n >= readsBeyond {
				if l.q.served() {
					return true
				}
			}
		case unix.EINTR:
		case unix.EAGAIN:
			return l.q.served()
		default:
			in.rest.err = err
			t.back = true
		}
	}
	t.back = true
	return true
}

// enlist sees to it that the connection has a place with the sentry.
func (l *link) enlist(fd uintptr) bool {
	if l.post.epfd == 0 {
		l.post, _ = l.q.dom.adapter.sentry.enlist(l.q, fd)
	}
	return l.post.epfd != 0
}

// watch has the sentry look.
func (l *link) watch(fd uintptr) bool { return l.post.tell(fd, sentryLooks) }

// giveUp gives a waiter's turn up.
func (l *link) giveUp() {
	if l.raw.Control(l.onGiveUp) != nil { // it is closed, which the reader finds out
		l.q.turn.back = true
		l.q.giveUp(0)
	}
}

// close closes the connection.
func (l *link) close() {
	l.q.dom.adapter.sentry.discharge(&l.post)
	_ = l.q.s.conn.Close()
}

// sip reads by one system call, if there is anything, for who has the reader's lock and is not the reader. That waits in
// Read meanwhile, and has the lock for reading, which Control does not take.
func (l *link) sip() (some bool, err error) {
	l.sipped = unix.EAGAIN
	if l.raw.Control(l.onSip) != nil { // it is closed, and the reader is told
		return false, nil
	}
	switch l.sipped {
	case nil:
		return true, nil
	case unix.EAGAIN, unix.EINTR:
		return false, nil
	}
	return false, l.sipped
}

// pull makes one system call.
func (l *link) pull(fd uintptr) error {
	in := &l.q.in
	most := in.room()
	if in.left > 0 {
		return l.readv(fd)
	}
	n, err := quick(unix.SYS_READ, fd, in.buf[in.w:in.w+most])
	in.full = n == most
	switch {
	case err != nil:
		return err
	case n == 0:
		return io.EOF
	}
	in.filled(n)
	return nil
}

// readv reads the next of a payload to its place, and of payloads that follow.
func (l *link) readv(fd uintptr) error {
	in := &l.q.in
	defer l.q.leave()
	if !l.q.enter() {
		return errOver
	}
	p, room, reg := in.to.next()
	if !in.to.enter(reg) {
		return in.to.gone()
	}
	iovs, more := 1, l.q.expect(room)
	room = min(room, in.left)
	l.into[0] = iovec(p, room)
	// With the end of the frame comes the header of the next, and nothing of its payload: so that is placed
	// from its beginning, where it is aligned. If the payload does not end here, what follows is not for the buffer.
	tail, size := in.skip+streamHead, in.ulpdu-fpdu.TaggedSize
	if room == in.left {
		l.into[1] = iovec(unsafe.Pointer(&in.buf[in.w]), tail)
		for iovs = 2; iovs < 2+2*more; iovs += 2 {
			l.into[iovs] = iovec(unsafe.Add(p, in.left+(iovs/2-1)*size), size)
			l.into[iovs+1] = iovec(unsafe.Pointer(&in.buf[in.w+iovs/2*tail]), tail)
		}
	}
	in.full = true // there may be more
	got, _, errno := unix.Syscall(unix.SYS_READV, fd, uintptr(unsafe.Pointer(&l.into[0])), uintptr(iovs))
	reg.leave()
	if errno == 0 {
		l.sort(int(got), iovs)
	}
	clear(l.into[:iovs])
	switch {
	case errno != 0:
		return errno
	case got == 0:
		return io.EOF
	}
	return nil
}

// sort notes where the n bytes went that were read: to the rest of a payload, and then by turns to the buffer and to
// payloads that follow.
func (l *link) sort(n, iovs int) {
	in := &l.q.in
	filled := 0
	for i := range l.into[:iovs] {
		part := min(n, int(l.into[i].Len))
		switch n -= part; {
		case part == 0:
		case i == 0:
			in.to.passed(part)
			in.left -= part
		case i%2 == 1:
			filled += part
		default:
			in.ahead.add(unsafe.Pointer(l.into[i].Base), part)
		}
	}
	in.filled(filled)
}

// iovec is n bytes at p, for the system.
func iovec(p unsafe.Pointer, n int) (v unix.Iovec) {
	v.Base = (*byte)(p)
	v.SetLen(n)
	return v
}

// quick reads to b, or writes it. The scheduler is not told: the descriptor does not block, and what is copied is
// little.
func quick(call, fd uintptr, b []byte) (int, error) {
	if words.ByWords { // the race detector learns from these calls what came before what
		if call == unix.SYS_READ {
			return unix.Read(int(fd), b)
		}
		return unix.Write(int(fd), b)
	}
	n, _, errno := unix.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
