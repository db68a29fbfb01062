package rdma

import (
	"context"
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// hello is what connections tell each other when they connect.
type hello struct {
	plain   bool // the peer said nothing that we know: it speaks no barewire
	depth   int
	credits int
	message int
	mtu     int
}

// magic begins the connection data; its last byte is the version.
var magic = [4]byte{'B', 'W', 'R', 1}

// hello is what we say.
func (dom *Domain) hello() hello {
	c := &dom.dev.cfg
	return hello{depth: c.Depth, credits: c.Credits, message: min(c.MaxMessage, dom.dev.limits.MaxMessage), mtu: c.MTU}
}

// append appends what travels.
func (h hello) append(b []byte) ([]byte, error) {
	x := ctl.Hello{Magic: magic, Depth: uint32(h.depth), Credits: uint32(h.credits), Message: uint32(h.message), Mtu: uint32(h.mtu)}
	return x.AppendBinary(b)
}

// parseHello reads what a peer said. Nothing, or something else than ours, is a
// peer that speaks no barewire; ours with values that cannot be is an error.
func parseHello(b []byte) (hello, error) {
	if len(b) < len(magic) || [3]byte(b) != [3]byte(magic[:]) {
		return hello{plain: true}, nil
	}
	if b[3] != magic[3] {
		return hello{}, fmt.Errorf("%w: the peer speaks version %d, this program version %d", ErrProtocol, b[3], magic[3])
	}
	if len(b) < ctl.HelloBinarySize {
		return hello{}, fmt.Errorf("%w: its hello has %d bytes, want %d", ErrProtocol, len(b), ctl.HelloBinarySize)
	}
	// Transports pad connection data, so what follows is not looked at.
	var x ctl.Hello
	if err := x.UnmarshalBinary(b[:ctl.HelloBinarySize]); err != nil {
		return hello{}, fmt.Errorf("%w: its hello: %w", ErrProtocol, err)
	}
	for _, v := range []struct {
		name      string
		v         uint32
		low, high uint32
	}{
		{"depth", x.Depth, 1, maxDepth},
		{"credits", x.Credits, minCredits, maxCredits},
		{"message", x.Message, minMessage, maxMessage},
		{"mtu", x.Mtu, 256, 1 << 16},
	} {
		if v.v < v.low || v.v > v.high {
			return hello{}, fmt.Errorf("%w: its hello has a %s of %d, want %d to %d", ErrProtocol, v.name, v.v, v.low, v.high)
		}
	}
	return hello{depth: int(x.Depth), credits: int(x.Credits), message: int(x.Message), mtu: int(x.Mtu)}, nil
}

// greeting is what we say first: nothing, where the peers are other programs.
func (dom *Domain) greeting() ([]byte, error) {
	if dom.dev.cfg.Plain {
		return nil, nil
	}
	return dom.hello().append(nil)
}

// heard is what a peer's connection data mean to us.
func (dom *Domain) heard(b []byte) (hello, error) {
	if dom.dev.cfg.Plain {
		return hello{plain: true}, nil
	}
	return parseHello(b)
}

// answer is what an acceptor says to a peer's hello, or the error that refuses it. A peer that said nothing
// of ours is told nothing of ours: it might take it for something of its own.
func (dom *Domain) answer(b []byte) (theirs hello, answer []byte, err error) {
	theirs, err = dom.heard(b)
	if err != nil || theirs.plain {
		return theirs, nil, err
	}
	answer, err = dom.hello().append(nil)
	return theirs, answer, err
}

// seat is a connection's place among those that MaxConns allows, kept for a peer that is
// about to connect: others may come at the same time.
type seat struct {
	dom  *Domain
	kept bool
}

// keep keeps the place, unless all are taken. A peer that was answered and then did not come
// leaves it to the next one.
func (s *seat) keep() error {
	s.dom.mu.Lock()
	defer s.dom.mu.Unlock()
	if s.kept {
		return nil
	}
	if n := len(s.dom.conns) + s.dom.coming; n >= s.dom.dev.cfg.MaxConns {
		return fmt.Errorf("%w: the domain has %d connections, as many as MaxConns allows", ErrTooMany, n)
	}
	s.dom.coming++
	s.kept = true
	return nil
}

// leave gives the place up.
func (s *seat) leave() {
	s.dom.mu.Lock()
	s.takeLocked()
	s.dom.mu.Unlock()
}

// takeLocked ends the keeping: the connection is there, or will not be. The domain's lock is held.
func (s *seat) takeLocked() {
	if s != nil && s.kept {
		s.kept = false
		s.dom.coming--
	}
}

// authorize asks the user whether a peer may have what it asks for; the error is why not, and the peer's side
// calls that a refusal. It does not wait
// for an answer beyond ctx and the handshake's time, so that nothing hangs with
// the user's function, which may also close the connection.
func (c *Config) authorize(ctx context.Context, r Request) error {
	if c.Authorize == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.HandshakeTimeout, wrap(ErrTimeout, "Authorize did not decide within %v", c.HandshakeTimeout))
	defer cancel()
	answer := make(chan error, 1)
	go func() { answer <- c.Authorize(r) }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
