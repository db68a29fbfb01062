package rdma

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// TestOwnMessageSaysSo: a message between the connections has no place where a user posted it.
func TestOwnMessageSaysSo(t *testing.T) {
	q := &stubQueue{}
	c := stubConn(t, q)
	defer c.Close()
	c.tell(&ctl.Cancel{ID: 1})
	q.mu.Lock()
	id := q.wrs[0].ID
	q.mu.Unlock()
	q.push(Completion{ID: id, Verb: VerbSend, Err: &StatusError{Status: StatusNotReady}})
	c.Poll()
	err := c.Err()
	if err == nil || !strings.Contains(err.Error(), "rdma: the connection's own message of ") || strings.Contains(err.Error(), "posted at") {
		t.Errorf("got %v", err)
	}
}

// TestForPeer: what a peer is told is one clause, with nothing of this side's.
func TestForPeer(t *testing.T) {
	op := &OpError{Op: "write", Bytes: 64, Region: "region of secret.Thing made at home/secret.go:12", At: "home/secret.go:17", Peer: "them", Err: &StatusError{Status: StatusRemoteRight}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&connError{"them", ErrClosed}, "its program closed it"},
		{&connError{"them", fmt.Errorf("%w: %w", ErrAborted, errors.New("no more"))}, "the connection was aborted: no more"},
		{op, "its write of 64 bytes failed: the peer did not grant that right on its region"},
		{&connError{"them", &StatusError{Status: StatusPeerLost}}, "the peer ended or cannot be reached"},
		{&flushError{op}, "its write of 64 bytes failed: the peer did not grant that right on its region"},
		{wrap(ErrProtocol, "them"), "them: the peer broke the protocol"},
	} {
		if got := forPeer(c.err).Error(); got != c.want {
			t.Errorf("%v:\nthe peer is told %q, want %q", c.err, got, c.want)
		}
	}
}

// TestNilScoped has an error that says where rights come from.
func TestNilScoped(t *testing.T) {
	var g *Scoped[line, barewire.RemoteRead]
	c := stubConn(t, &stubQueue{})
	defer c.Close()
	_, err := g.Remote()
	for _, err := range []error{
		err, g.Revoke(t.Context()), OfferScoped(t.Context(), c, "x", g), OfferScoped(t.Context(), c, "x", &Scoped[line, barewire.RemoteRead]{}),
	} {
		if err == nil || !strings.Contains(err.Error(), "Grant gives") || strings.Contains(err.Error(), "zero Grant") {
			t.Errorf("got %v", err)
		}
	}
}
