package heed

import (
	"context"
	"testing"
)

// TestContexts has contexts end that are heeded, that are not any more, and that end before they are.
func TestContexts(t *testing.T) {
	woken := make(chan bool, 16)
	wake := func() { woken <- true }
	var c Contexts
	c.Heed(context.Background(), wake) // has no end
	c.Rest()
	var all []context.Context
	var ends []context.CancelFunc
	for range len(c.list) + 1 {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		all, ends = append(all, ctx), append(ends, cancel)
		for range 3 { // from the second time on it is kept
			c.Heed(ctx, wake)
			c.Rest()
		}
	}
	ends[0]() // the oldest had to go
	ends[1]()
	<-woken
	if n := testing.AllocsPerRun(100, func() {
		c.Heed(all[2], wake)
		c.Rest()
		c.Heed(all[3], wake)
		c.Rest()
	}); n != 0 {
		t.Errorf("%v allocations for contexts that were heeded before", n)
	}
	c.Heed(all[0], wake) // it has ended
	<-woken
	c.Rest()
	c.End()
	for _, end := range ends {
		end()
	}
	if len(woken) > 0 {
		t.Error("contexts that are not heeded woke somebody")
	}
}

// TestOnce has contexts end that were slept for once: during it, and after.
func TestOnce(t *testing.T) {
	woken := make(chan bool, 16)
	wake := func() { woken <- true }
	var c Contexts
	for range 10 {
		ctx, cancel := context.WithCancel(context.Background())
		c.Heed(ctx, wake)
		c.Rest()
		if cancel(); c.first != nil || len(woken) > 0 {
			t.Fatal("a context is heeded after the only sleep for it")
		}
		ctx, cancel = context.WithCancel(context.Background())
		c.Heed(ctx, wake)
		cancel()
		<-woken
		c.Rest()
	}
}
