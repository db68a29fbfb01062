package iwarp_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
)

// TestConformance runs the suite of all providers over each kind of connection.
func TestConformance(t *testing.T) {
	t.Cleanup(iwarp.LongWaits(3 * time.Second))
	secure := selfSigned(t)
	for name, p := range map[string]rdma.Provider{
		"tcp":              iwarp.New(iwarp.Options{}),
		"without checksum": configured{iwarp.New(iwarp.Options{}), func(c *rdma.Config) { c.Transport = rdma.IWARP{NoCRC: true} }},
		"small segments":   configured{iwarp.New(iwarp.Options{}), func(c *rdma.Config) { c.Transport = rdma.IWARP{MTU: 576} }},
		"busy":             configured{iwarp.New(iwarp.Options{}), func(c *rdma.Config) { c.Mode = rdma.Busy }},
		"adaptive": configured{iwarp.New(iwarp.Options{}), func(c *rdma.Config) {
			c.Mode, c.Transport = rdma.Adaptive, rdma.IWARP{NoCRC: true}
		}},
		"tls":   configured{iwarp.New(iwarp.Options{}), func(c *rdma.Config) { c.TLS = secure }},
		"pipes": iwarp.New(newPipes().options()),
	} {
		t.Run(name, func(t *testing.T) {
			rdmatest.Run(t, rdmatest.Factory{Provider: p, Device: "tcp", Loose: true, Eager: true})
		})
	}
}

// configured is a provider whose configurations are changed before it sees them.
type configured struct {
	*iwarp.Provider
	change func(*rdma.Config)
}

func (c configured) Open(ctx context.Context, name string, cfg *rdma.Config) (rdma.Adapter, error) {
	own := *cfg
	c.change(&own)
	return c.Provider.Open(ctx, name, &own)
}

// selfSigned is a configuration of both sides, whose certificate is its own authority.
func selfSigned(t testing.TB) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, RootCAs: pool, ClientCAs: pool,
	}
}

// pipes is a network of net.Pipe, where what is written waits until it is read.
type pipes struct {
	mu        sync.Mutex
	listening map[string]*pipeListener
	n         int
}

func newPipes() *pipes { return &pipes{listening: map[string]*pipeListener{}} }

func (p *pipes) options() iwarp.Options {
	return iwarp.Options{Dial: p.dial, Listen: p.listen}
}

func (p *pipes) dial(ctx context.Context, addr string) (net.Conn, error) {
	p.mu.Lock()
	l := p.listening[addr]
	p.mu.Unlock()
	if l == nil {
		return nil, errors.New("nobody listens at " + addr)
	}
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, errors.New("nobody listens any more at " + addr)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) listen(_ context.Context, addr string) (net.Listener, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; addr == "" {
		addr = fmt.Sprintf("pipe:%d", p.n)
	}
	if p.listening[addr] != nil {
		return nil, errors.New("the address is in use")
	}
	l := &pipeListener{pipes: p, addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
	p.listening[addr] = l
	return l, nil
}

type pipeListener struct {
	pipes  *pipes
	addr   string
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.pipes.mu.Lock()
		defer l.pipes.mu.Unlock()
		delete(l.pipes.listening, l.addr)
	})
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr(l.addr) }

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }
