package rdma

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// Stats is what a connection, or all of a device's, did since it began. It is a
// snapshot.
type Stats struct {
	Posted    map[Verb]uint64 // operations posted, by verb
	Bytes     map[Verb]uint64 // bytes of them
	Completed uint64          // operations that ended, with or without success
	Failed    uint64          // operations that ended with an error of their own
	Flushed   uint64          // operations that ended because an earlier one failed, or the connection was aborted
	InFlight  uint64          // operations that have not ended

	Doorbells     uint64 // times that operations were handed to the device
	Polls         uint64 // times that completions were asked for
	Sleeps        uint64 // times that somebody slept for one
	QueueFull     uint64 // operations refused because the queue was full
	NoCredit      uint64 // messages refused, or delayed, because the peer had no receive left
	Messages      uint64 // messages of the peer's program
	Notifications uint64 // notifications of the peer
	Control       uint64 // messages of the peer's connection
	Violations    uint64 // completions that did not fit what was posted, or breaches of the protocol
}

// tally is the counters of a connection. The first group is written under its
// post lock, the second under its poll lock.
type tally struct {
	posted    [VerbNotify + 1]uint64
	bytes     [VerbNotify + 1]uint64
	doorbells uint64
	queueFull uint64
	noCredit  uint64
	atOnce    uint64 // operations that ended as they were posted
	changed   uint64 // of them, those with which something was wrong

	completed     uint64
	failed        uint64
	flushed       uint64
	polls         uint64
	messages      uint64
	notifications uint64
	control       uint64
	violations    uint64
}

// post counts a request that is posted.
func (t *tally) post(r *request) {
	t.posted[r.verb]++
	t.bytes[r.verb] += uint64(r.bytes)
}

// add adds what a connection did.
func (s *Stats) add(t *tally) {
	if s.Posted == nil {
		s.Posted, s.Bytes = map[Verb]uint64{}, map[Verb]uint64{}
	}
	for v := range t.posted {
		if t.posted[v] > 0 {
			s.Posted[Verb(v)] += t.posted[v]
			s.Bytes[Verb(v)] += t.bytes[v]
		}
	}
	s.Completed += t.completed + t.atOnce
	s.Failed += t.failed
	s.Flushed += t.flushed
	s.Doorbells += t.doorbells
	s.Polls += t.polls
	s.QueueFull += t.queueFull
	s.NoCredit += t.noCredit
	s.Messages += t.messages
	s.Notifications += t.notifications
	s.Control += t.control
	s.Violations += t.violations + t.changed
}

// Stats is what the connection did.
//
//barewire:effect hears=c
func (c *Conn) Stats() Stats {
	var s Stats
	if c.none() {
		return s
	}
	c.pollMu.Lock()
	c.mu.Lock()
	t := c.tally
	inFlight := c.posted - c.retired.Load()
	c.mu.Unlock()
	c.pollMu.Unlock()
	s.add(&t)
	s.InFlight = inFlight
	s.Sleeps = c.sleeps.Load()
	return s
}

// Stats is what the device's connections did, those that are closed too.
func (d *Device) Stats() Stats {
	if d.none() {
		return Stats{}
	}
	d.mu.Lock()
	total := d.past
	total.Posted, total.Bytes = maps.Clone(total.Posted), maps.Clone(total.Bytes)
	var conns []*Conn
	for dom := range d.domains {
		conns = append(conns, dom.connections()...)
	}
	d.mu.Unlock()
	for _, c := range conns {
		total.sum(c.Stats())
	}
	return total
}

// sum adds another snapshot.
func (s *Stats) sum(o Stats) {
	if s.Posted == nil {
		s.Posted, s.Bytes = map[Verb]uint64{}, map[Verb]uint64{}
	}
	for v, n := range o.Posted {
		s.Posted[v] += n
	}
	for v, n := range o.Bytes {
		s.Bytes[v] += n
	}
	s.Completed += o.Completed
	s.Failed += o.Failed
	s.Flushed += o.Flushed
	s.InFlight += o.InFlight
	s.Doorbells += o.Doorbells
	s.Polls += o.Polls
	s.Sleeps += o.Sleeps
	s.QueueFull += o.QueueFull
	s.NoCredit += o.NoCredit
	s.Messages += o.Messages
	s.Notifications += o.Notifications
	s.Control += o.Control
	s.Violations += o.Violations
}

// Event is something that a [Config.Observer] sees. Operations that succeed are
// no events: [Stats] counts them.
type Event struct {
	Kind EventKind
	Peer string // of the connection; empty where there is none
	Name string // of an offer; or the region
	Err  error  // why, where something failed
}

// EventKind is what happened.
type EventKind uint8

// The events.
const (
	EventConnected    EventKind = iota + 1 // a connection is ready
	EventDisconnected                      // a connection was closed
	EventFailed                            // a connection failed: Err says which operation, or why else
	EventViolated                          // a provider or a peer did what it must not
	EventRefused                           // a peer was refused: it wanted to connect, or Name
	EventRegistered                        // a region became known to the device
	EventDeregistered                      // a region is no longer known
	EventOffered                           // Name is offered
	EventGranted                           // the key of what is offered as Name was given to the peer
	EventRevoked                           // the keys of a region are no longer good; Err, where there is one, says why the device could not end them alone, and the memory was registered anew
	EventNotConnected                      // a peer came to a listener and was not heard out, or could not be taken in: Err says why
	EventDevice                            // the device reports what is no completion, as that its port is down, or up again: Name is the device, and Err says what
)

// String is the event in a word, as "connected".
func (k EventKind) String() string {
	if k == 0 || int(k) >= len(eventNames) {
		return fmt.Sprintf("event %d", uint8(k))
	}
	return eventNames[k]
}

var eventNames = [...]string{
	EventConnected:    "connected",
	EventDisconnected: "disconnected",
	EventFailed:       "failed",
	EventViolated:     "violated",
	EventRefused:      "refused",
	EventRegistered:   "registered",
	EventDeregistered: "deregistered",
	EventOffered:      "offered",
	EventGranted:      "granted",
	EventRevoked:      "revoked",
	EventNotConnected: "not connected",
	EventDevice:       "device",
}

// sparingly is for warnings that a peer can cause as often as it likes: one a second is logged, the
// others at the level of debugging. Observers see all.
type sparingly struct {
	mu   sync.Mutex
	last time.Time
	more int // since the last one
}

func (s *sparingly) warn(c *Config, text string, args ...any) {
	s.mu.Lock()
	level := slog.LevelDebug
	if now := time.Now(); now.Sub(s.last) >= time.Second {
		if s.more > 0 {
			args = append(args, "more", s.more)
		}
		level, s.last, s.more = slog.LevelWarn, now, 0
	} else {
		s.more++
	}
	s.mu.Unlock()
	c.Logger.Log(context.Background(), level, text, args...)
}

// see tells the observer.
func (c *Config) see(e Event) {
	if c.Observer != nil {
		c.Observer(e)
	}
}
