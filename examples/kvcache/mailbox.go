package main

import (
	"context"
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// What a Mail is about: it travels beside the mail, as the notification's number.
const (
	wantsLease uint32 = iota + 1
	startCounting
	counted
	wrote
	ping
	startMoving
	moved
	forging
)

// mailbox sends and gets mail: the sender writes it into the other's memory and
// notifies. There is room for one, so who has sent waits for the answer.
type mailbox struct {
	conn *rdma.Conn
	in   MailWindow[barewire.RemoteWrite] // the other side writes here
	out  MailWindow[barewire.Local]       // this side writes here first
	from barewire.Span[Mail, barewire.Local]
	to   MailRemote[barewire.RemoteWrite] // in the memory of the other side
}

// openMailbox makes a mailbox, offers it, and finds that of the other side.
func (s *side) openMailbox(ctx context.Context) error {
	in, err := newRegion(s, "inbox", MailInCPU(), 1, MailRemoteWrite())
	if err != nil {
		return err
	}
	out, err := newRegion(s, "outbox", MailInCPU(), 1, MailLocal())
	if err != nil {
		return err
	}
	if err := rdma.Offer(ctx, s.conn, "mail", in); err != nil {
		return err
	}
	m := mailbox{conn: s.conn, from: out.Span(0, 1)}
	if m.to, err = rdma.Import(ctx, s.conn, "mail", MailRemoteWrite()); err != nil {
		return err
	}
	if m.in, err = barewire.Open(in); err != nil {
		return err
	}
	s.later(m.in.Close)
	if m.out, err = barewire.Open(out); err != nil {
		return err
	}
	s.later(m.out.Close)
	s.mail = m
	return nil
}

// put sends a mail.
func (m *mailbox) put(ctx context.Context, about uint32, x Mail) error {
	if err := MailAt(m.out, 0).Store(&x); err != nil {
		return err
	}
	op, err := rdma.WriteNotify(m.conn, m.to, m.from, about)
	if err != nil {
		return err
	}
	return op.Wait(ctx) // then out may be written again
}

// take waits for a mail, or for anything else that the other side writes and
// notifies of; the notification says which.
func (m *mailbox) take(ctx context.Context) (n rdma.Notification, x Mail, err error) {
	if n, err = m.conn.NextNotification(ctx); err != nil {
		return n, x, err
	}
	return n, x, MailAt(m.in, 0).Load(&x)
}

// expect waits for a mail about something.
func (m *mailbox) expect(ctx context.Context, about uint32) (Mail, error) {
	n, x, err := m.take(ctx)
	if err == nil && n.Imm != about {
		err = fmt.Errorf("mail about %d, want %d", n.Imm, about)
	}
	return x, err
}

// ask sends a mail and waits for the answer, which is about the same.
func (m *mailbox) ask(ctx context.Context, about uint32, x Mail) (Mail, error) {
	if err := m.put(ctx, about, x); err != nil {
		return Mail{}, err
	}
	return m.expect(ctx, about)
}
