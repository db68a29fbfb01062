// Package heed has the end of a context wake who sleeps, without allocating each time: who sleeps often does so for the
// same few contexts, that of a connection and the user's in turns. One that is slept for once is let go of after that, so
// that its end costs nothing.
package heed

import "context"

// Contexts are the contexts that were slept for last. They are used by one goroutine at a time.
type Contexts struct {
	list   [4]heeded
	oldest int     // of them
	first  *heeded // the one that is slept for now, for the first time
}

// heeded is a context whose end wakes who sleeps.
type heeded struct {
	done <-chan struct{} // which context it is
	stop func() bool     // nil: it does not now
}

// Heed has the end of ctx call wake, from a goroutine of its own, at once or until Rest, and maybe after that; wake is the
// same each time.
func (c *Contexts) Heed(ctx context.Context, wake func()) {
	done := ctx.Done()
	if done == nil {
		return
	}
	for i := range c.list {
		h := &c.list[i]
		if h.done != done {
			continue
		}
		if h.stop == nil {
			h.stop = context.AfterFunc(ctx, wake)
		}
		return
	}
	h := &c.list[c.oldest]
	c.oldest = (c.oldest + 1) % len(c.list)
	h.rest()
	h.done, h.stop = done, context.AfterFunc(ctx, wake)
	c.first = h
}

// Rest is to be called after the sleep that Heed was called for.
func (c *Contexts) Rest() {
	if c.first != nil {
		c.first.rest()
		c.first = nil
	}
}

// End heeds none any more, and forgets them.
func (c *Contexts) End() {
	for i := range c.list {
		c.list[i].rest()
		c.list[i].done = nil
	}
	c.first = nil
}

func (h *heeded) rest() {
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
}
