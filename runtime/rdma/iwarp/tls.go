package iwarp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// alpn names what is spoken under TLS, so that a connection which was meant for another service fails.
const alpn = "barewire-iwarp/1"

// useTLS takes the configuration's TLS.
func (a *adapter) useTLS(cfg *rdma.Config) error {
	if cfg.TLS == nil {
		return nil
	}
	user, ok := cfg.TLS.(*tls.Config)
	switch {
	case !ok || user == nil:
		return fmt.Errorf("%w: its TLS is no *tls.Config", rdma.ErrConfig)
	case a.plain:
		return fmt.Errorf("%w: TLS is between programs with this package, and Plain is for others; leave one of them out", rdma.ErrConfig)
	case user.MaxVersion != 0 && user.MaxVersion < tls.VersionTLS13:
		return fmt.Errorf("%w: its TLS has a MaxVersion below TLS 1.3, which all peers have; leave it out", rdma.ErrConfig)
	}
	a.secure = harden(user)
	return nil
}

// harden is a configuration with what this package asks for: TLS 1.3, our protocol, records of full size, and
// no tickets: each connection is authenticated anew.
func harden(user *tls.Config) *tls.Config {
	c := user.Clone()
	c.MinVersion = tls.VersionTLS13
	c.NextProtos = []string{alpn}
	c.SessionTicketsDisabled = true
	c.ClientSessionCache = nil
	c.DynamicRecordSizingDisabled = true
	if choose := c.GetConfigForClient; choose != nil {
		c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := choose(hello)
			if chosen == nil || err != nil {
				return nil, err
			}
			return harden(chosen), nil
		}
	}
	return c
}

// canListen says why TLS cannot be served, if it cannot.
func (a *adapter) canListen() error {
	c := a.secure
	if c == nil || len(c.Certificates) > 0 || c.GetCertificate != nil || c.GetConfigForClient != nil {
		return nil
	}
	return fmt.Errorf("%w: its TLS has no Certificates, and who listens needs one", rdma.ErrConfig)
}

// serveTLS is a connection of a listener under TLS, where there is to be TLS.
func (a *adapter) serveTLS(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if a.secure == nil {
		return conn, nil
	}
	return shake(ctx, tls.Server(conn, a.secure))
}

// dialTLS is a connection to an address under TLS, where there is to be TLS.
func (a *adapter) dialTLS(ctx context.Context, conn net.Conn, addr string) (net.Conn, error) {
	if a.secure == nil {
		return conn, nil
	}
	c := a.secure
	if c.ServerName == "" {
		c = c.Clone()
		c.ServerName = addr
		if host, _, err := net.SplitHostPort(addr); err == nil {
			c.ServerName = host
		}
	}
	return shake(ctx, tls.Client(conn, c))
}

// shake does the handshake, after which the peer is known to speak as we do. It closes conn if it fails.
func shake(ctx context.Context, conn *tls.Conn) (net.Conn, error) {
	err := conn.HandshakeContext(ctx)
	if err == nil && conn.ConnectionState().NegotiatedProtocol != alpn {
		err = fmt.Errorf("the peer does not speak %q under TLS", alpn)
	}
	if err == nil {
		return conn, nil
	}
	_ = conn.NetConn().Close()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("TLS: %w", context.Cause(ctx))
	}
	if notTLS := (tls.RecordHeaderError{}); errors.As(err, &notTLS) {
		return nil, fmt.Errorf("the peer does not speak TLS, and this side has Config.TLS: %w", err)
	}
	return nil, fmt.Errorf("TLS: %w", err)
}

var (
	_ rdma.Secured     = (*queue)(nil)
	_ rdma.Introducing = (*listener)(nil)
)

// TLS is what the handshake came to, with the peer's certificates; nil without TLS.
func (q *queue) TLS() rdma.TLSState { return tlsState(q.s.conn) }

func tlsState(conn net.Conn) rdma.TLSState {
	if c, ok := conn.(*tls.Conn); ok {
		state := c.ConnectionState()
		return &state
	}
	return nil
}
