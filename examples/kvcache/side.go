package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// screen is where both sides write what happened, and when.
type screen struct {
	out   io.Writer
	since time.Time
}

// side is what the owner and the peer have alike.
type side struct {
	show  screen
	name  string
	dev   *rdma.Device
	dom   *rdma.Domain
	conn  *rdma.Conn
	mail  mailbox
	undos []func() error
}

// newSide opens the device of a transport.
func newSide(ctx context.Context, show screen, name, transport string) (*side, error) {
	dev, err := rdma.Open(ctx, rdma.Config{
		Device: transport,
		Mode:   rdma.Adaptive,                 // look a little before sleeping
		Logger: slog.New(slog.DiscardHandler), // the demo tells itself what is refused
	})
	if err != nil {
		return nil, err
	}
	dom, err := dev.Domain()
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	s := &side{show: show, name: name, dev: dev, dom: dom}
	s.later(dev.Close)
	return s, nil
}

// later has close do something, before what is to be done already.
func (s *side) later(undo func() error) { s.undos = append(s.undos, undo) }

// close gives back all that the side made. The connection goes first: then no
// operation is in flight, which would keep its regions busy.
func (s *side) close() error {
	var errs []error
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	for _, undo := range slices.Backward(s.undos) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
}

// newRegion makes and registers a region that is closed with its side. Errors call it by its name.
func newRegion[T barewire.Fixed[T], A barewire.Registered](s *side, name string, p barewire.Place[T, barewire.CPU], n int, g barewire.Grant[T, A]) (*barewire.Region[T, barewire.CPU, A], error) {
	r, err := barewire.New(p, n, barewire.Named(name))
	if err != nil {
		return nil, err
	}
	mr, err := rdma.Register(s.dom, r, g)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	s.later(mr.Close)
	return mr, nil
}

// say tells what happened. It is one write, so that the lines of two processes stay whole.
func (s *side) say(format string, args ...any) {
	ms := float64(time.Since(s.show.since).Microseconds()) / 1000
	head := fmt.Sprintf("%7.1f ms  %-5s  ", ms, s.name)
	text := strings.ReplaceAll(wrap(fmt.Sprintf(format, args...), 92), "\n", "\n"+strings.Repeat(" ", len(head)))
	fmt.Fprintln(s.show.out, head+text)
}

// wrap breaks text at spaces, where lines would be longer than width.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(text, " ") {
		switch {
		case i > 0 && at+1+len(word) > width:
			b.WriteByte('\n')
			at = 0
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}

// claim is an error unless what the demo says is so.
func claim(so bool, format string, args ...any) error {
	if so {
		return nil
	}
	return fmt.Errorf("not as claimed: "+format, args...)
}
