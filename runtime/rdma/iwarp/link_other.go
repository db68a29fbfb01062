//go:build !linux

package iwarp

import "time"

// link is the connection, as what is written to and read from.
type link struct {
	q        *queue
	deadline time.Time // when the one for writing was set last
}

const (
	writesRefs    = false
	readsDirectly = false
	minDirect     = 0
)

func (l *link) open(q *queue) error { l.q = q; return nil }

// immediate reports whether try may be called.
func (l *link) immediate() bool { return false }

// measure would ask how long a segment may be.
func (l *link) measure() {}

// try writes what can be written without waiting. It reports whether that was all.
func (l *link) try() bool { return l.q.out.empty() }

// flush writes what is left of the batch. It may wait.
func (l *link) flush() { l.q.flushPlain() }

// serve reads, and has done what comes, until the connection ends, or the queue: then there is no error.
func (l *link) serve() error { return l.q.servePlain() }

// sip would read without waiting.
func (l *link) sip() (some bool, err error) { return false, nil }

// Waiters do not read.

func (l *link) lead() error            { return nil }
func (l *link) enlist(fd uintptr) bool { return false }
func (l *link) watch(fd uintptr) bool  { return false }
func (l *link) giveUp()                {}
func (l *link) close()                 { _ = l.q.s.conn.Close() }
