package iwarp

import (
	"time"
)

// progress is how long the peer may take to make room for more.
const progress = 30 * time.Second

// writeDeadline bounds how long the writer waits, unless the queue has ended: then a shorter time is set.
func (q *queue) writeDeadline(t time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended == nil {
		_ = q.s.conn.SetWriteDeadline(t) // if it fails, writing does
	}
}

// flushPlain writes what is left of the batch to a connection that system calls are not made on. Nothing of it is
// anywhere but in buf.
func (q *queue) flushPlain() {
	o := &q.out
	if o.empty() {
		return
	}
	if now := time.Now(); now.Sub(q.link.deadline) > progress/2 {
		q.link.deadline = now
		q.writeDeadline(now.Add(progress + progress/2))
	}
	n, err := q.s.conn.Write(o.buf[o.sent:])
	o.sent += n
	o.err = err
}

// servePlain reads to the buffer, and has done what comes, until the connection or the queue ends.
func (q *queue) servePlain() error {
	in := &q.in
	for {
		most := in.room()
		n, err := q.s.conn.Read(in.buf[in.w : in.w+most])
		if in.filled(n); n > 0 && !q.chew() {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
