package iwarp

import "github.com/fidelityframework/barewire-gen/runtime/rdma"

// Where the program polls rather than sleeps, in the modes rdma.Busy and rdma.Adaptive, Poll reads from TCP by itself.
// What comes is then done without a hop from the reader's goroutine to the program's; and without the runtime's poller,
// which nobody looks at for up to 10 ms while programs that poll keep all processors busy.
//
// The reader is there nevertheless, for when the program does something else. Whatever comes wakes it; it waits for its
// turn, and reads until there is no more. So Poll may leave things unread, and nothing is lost.

// How often in a row Poll reads in vain before it reads only now and then: a system call takes as long as many polls,
// and who counts polls before it sleeps does not mean to make so many system calls.
const (
	eagerSips = 32
	rareSips  = 32 // of so many polls one reads
)

// sip reads once, and does what came. It reports whether anything did. What may have to wait is left to a goroutine,
// and the reader's lock with it.
func (q *queue) sip() (some bool) {
	in := &q.in
	if !in.mu.TryLock() {
		return false // somebody reads
	}
	if in.over || !q.thirsty() {
		in.mu.Unlock()
		return false
	}
	some, err := q.link.sip()
	switch {
	case some:
		in.barren = 0
		q.sipping.Store(true)
		v, fault := q.digest()
		waits := v == hungry || fault != nil
		if !waits {
			q.conclude(v, nil)
		}
		q.sipping.Store(false)
		if waits {
			go func() { q.conclude(v, fault); in.mu.Unlock() }()
			return true
		}
	case err != nil:
		go func() { q.fails(err); in.mu.Unlock() }()
		return false
	}
	in.mu.Unlock()
	return some
}

// thirsty reports whether it is time to read.
func (q *queue) thirsty() bool {
	n := q.in.barren
	q.in.barren++
	return q.dom.adapter.mode == rdma.Busy || n < eagerSips || n%rareSips == 0
}
