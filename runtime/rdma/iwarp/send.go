package iwarp

import (
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// role is who sends. Whoever has something to send takes the role if nobody has it, and sends what there is, of
// others too. So what is posted while somebody sends goes with the next system call, and nobody waits for anybody.
type role uint8

const (
	nobody role = iota
	caller      // whoever called Post, or the reader: they never wait
	writer      // the queue's writer, which may
)

// How many turns a caller sends before the writer has to go on.
const (
	turnsOfPost   = 16
	turnsOfReader = 1 // it has to read
)

// turn is how many bytes of answers, and of own requests, are sent before the other ones have their turn; the
// second, where there are no other ones.
const (
	turn      = 64 << 10
	turnAlone = 512 << 10
)

// outgoing is the state of whoever has the role.
type outgoing struct {
	posted uint64 // requests that are known to be there
	next   uint64 // the one whose turn it is
	begun  bool   // a part of it is sent
	off    int    // that many bytes
	from   spot   // and this is where the next ones are

	rtr     fpdu.RTR          // what is to be sent before anything else
	dirty   bool              // something was sent that no response has been asked for after
	waiting bool              // the next request waits for responses
	asked   int               // that many were to come then
	more    bool              // there is more than fitted a batch
	long    int               // bytes of long messages until segments are measured
	doom    *rdma.StatusError // what the next request fails with when those before it have ended
	refused *parting          // what an answer failed with

	msn  [4]uint32 // the last message's number on each queue
	sink uint32    // the last key of a read
	ours cache

	presuming presuming

	batch
}

func (o *outgoing) init(s *session, immediate bool) {
	if s.initiator {
		o.rtr = s.ready
	}
	o.sink = uint32(random())
	o.crc = s.crc
	o.lend = immediate && writesRefs && !s.crc
	o.tells = o.lend && s.tells
}

// kick sends what there is to send, unless somebody does.
func (q *queue) kick() {
	q.mu.Lock()
	q.unlockAndSend(turnsOfReader)
}

// unlockAndSend unlocks mu and sends what there is, unless somebody does, who sees it then.
func (q *queue) unlockAndSend(turns int) {
	switch {
	case q.role != nobody:
		q.again = true
		q.mu.Unlock()
	case !q.link.immediate():
		q.role = writer
		q.mu.Unlock()
		poke(q.work)
	default:
		q.role, q.again, q.out.posted = caller, false, q.posted
		q.mu.Unlock()
		q.send(turns)
	}
}

// send sends for a caller, who has the role, and gives it up: to the writer, where there is more to do than a caller
// has time for, or the peer does not keep up.
func (q *queue) send(turns int) {
	for {
		q.fill()
		if !q.link.try() || q.out.err != nil {
			break
		}
		q.written.Store(q.out.next)
		if q.release() {
			return
		}
		if turns--; turns == 0 {
			break
		}
	}
	q.mu.Lock()
	q.role = writer
	q.writing.Store(true)
	q.mu.Unlock()
	poke(q.work)
}

// write is the writer: it sends what others could not, and ends the connection.
func (q *queue) write() {
	for range q.work {
		q.mu.Lock()
		mine, ended := q.role == writer, q.ended != nil
		if mine && q.out.empty() { // else release sees that there is more
			q.again, q.out.posted = false, q.posted
		}
		q.mu.Unlock()
		switch {
		case mine && ended:
			q.part()
			q.exit()
			return
		case mine:
			q.sendAll()
		}
	}
}

// sendAll sends as the writer, until there is nothing more, the connection fails or the queue has ended.
func (q *queue) sendAll() {
	for {
		if q.out.err != nil {
			q.unwritable(q.out.err)
			return // the role is kept: nobody sends any more
		}
		if q.out.empty() {
			q.fill()
		}
		if q.link.flush(); q.out.err != nil {
			continue
		}
		q.written.Store(q.out.next)
		if q.release() {
			return
		}
	}
}

// release settles what was sent, and gives the role up if there is nothing more to send. It reports whether it did.
func (q *queue) release() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.settle()
	switch {
	case q.ended != nil:
		q.role = writer
		poke(q.work)
		return true
	case q.out.more || q.again || q.posted != q.out.posted || q.out.waiting && q.asks.n() < q.out.asked:
		q.again, q.out.posted = false, q.posted
		return false
	}
	q.writing.Store(false)
	q.role, q.stuck = nobody, q.out.waiting || q.out.doom != nil
	return true
}

// settle completes what was handed to TCP, and fails what cannot be. mu is held.
func (q *queue) settle() {
	o := &q.out
	if q.flushed {
		return
	}
	// What has completed before may be another request by now.
	for n := max(q.handed, q.done); n < o.next; n++ {
		if e := q.at(n); q.endsByItself(e) {
			e.done = true
		}
	}
	q.handed = o.next
	q.advance()
	switch {
	case q.ended != nil:
	case o.refused != nil:
		q.end(o.refused.why, o.refused)
	case o.doom != nil && q.done == o.next:
		q.failed(o.next, o.doom)
	}
}

// advance completes what may complete, in order. mu is held.
func (q *queue) advance() {
	before := q.done
	for q.done < q.posted && q.at(q.done).done {
		q.done++
	}
	if q.done != before && !q.taking {
		q.signal()
	}
}
