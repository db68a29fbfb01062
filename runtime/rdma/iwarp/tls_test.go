package iwarp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// authority signs certificates.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t testing.TB) *authority {
	a := &authority{t: t, pool: x509.NewCertPool()}
	a.cert, a.key = a.issue("authority", true)
	a.pool.AddCert(a.cert)
	return a
}

// issue makes a certificate, signed by the authority, or by itself where there is none yet.
func (a *authority) issue(name string, authority bool) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, IsCA: authority, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if authority {
		tmpl.KeyUsage |= x509.KeyUsageCertSign
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = tmpl, key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// config is that of a peer of a name, which wants the other's certificate to be the authority's.
func (a *authority) config(name string) *tls.Config {
	cert, key := a.issue(name, false)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}},
		RootCAs:      a.pool, ClientCAs: a.pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
}

func under(c *tls.Config) *rdma.Config {
	return &rdma.Config{TLS: c, HandshakeTimeout: 5 * time.Second, Transport: rdma.IWARP{NoCRC: true}}
}

// TestTLS connects under mutual TLS. Both ends know whom they speak with, and leave checksums out across hosts.
func TestTLS(t *testing.T) {
	ca := newAuthority(t)
	a, b := openDomain(t, Options{}, under(ca.config("alice"))), openDomain(t, Options{}, under(ca.config("bob")))
	l, got := listenOn(t, b, hello)
	q := (<-dialOn(t, a, l.Addr(), "magic")).must(t)
	w := (<-got).must(t)
	for q, peer := range map[*queue]string{q: "bob", w: "alice"} {
		s, ok := q.TLS().(*tls.ConnectionState)
		if !ok || len(s.PeerCertificates) != 1 || s.PeerCertificates[0].Subject.CommonName != peer || s.Version != tls.VersionTLS13 || s.NegotiatedProtocol != alpn {
			t.Errorf("the peer %s showed %+v", peer, s)
		}
		if q.s.tcp != nil || q.s.crc || !q.s.ours || q.s.mulpdu != streamULPDU {
			t.Errorf("the session is %+v", q.s)
		}
	}
	if string(w.s.hello) != "magic" || string(q.s.hello) != "hello" {
		t.Errorf("the hellos are %q and %q", w.s.hello, q.s.hello)
	}
}

// TestTLSRefuses has peers that will not do, and what each side says of it.
func TestTLSRefuses(t *testing.T) {
	ca, others := newAuthority(t), newAuthority(t)
	good := func() *tls.Config { return ca.config("alice") }
	but := func(c *tls.Config, change func(*tls.Config)) *tls.Config { change(c); return c }
	for _, c := range []struct {
		name        string
		dial, serve *tls.Config
		dialer      string // says
	}{
		{"another authority's client", but(others.config("eve"), func(c *tls.Config) { c.RootCAs = ca.pool }), good(), ""},
		{"a client without a certificate", but(good(), func(c *tls.Config) { c.Certificates = nil }), good(), ""},
		{"another authority's server", good(), but(others.config("eve"), func(c *tls.Config) { c.ClientCAs = ca.pool }), "unknown authority"},
		{"a server of another name", but(good(), func(c *tls.Config) { c.ServerName = "bob.example" }), good(), "bob.example"},
		{"a client without TLS", nil, good(), ""},
		{"a server without TLS", good(), nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			side := func(c *tls.Config) *domain {
				cfg := &rdma.Config{HandshakeTimeout: time.Second}
				if c != nil {
					cfg.TLS = c
				}
				return openDomain(t, Options{}, cfg)
			}
			d, b := side(c.dial), side(c.serve)
			l, got := listenOn(t, b, hello)
			a := <-dialOn(t, d, l.Addr(), "magic")
			if a.err == nil {
				_ = a.q.Close()
				t.Fatal("was accepted")
			}
			if !strings.Contains(a.err.Error(), c.dialer) {
				t.Errorf("who dialled is told %v, want %q", a.err, c.dialer)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if w := <-got; !errors.Is(w.err, errClosed) {
				t.Errorf("accepted %+v", w)
			}
		})
	}
}

// TestTLSProtocol wants a peer that speaks something else under TLS to be refused, in both roles.
func TestTLSProtocol(t *testing.T) {
	ca := newAuthority(t)
	d := openDomain(t, Options{}, under(ca.config("alice")))
	l, _ := listenOn(t, d, hello)
	for _, protos := range [][]string{nil, {"h2"}} {
		c := ca.config("web")
		c.ServerName, c.NextProtos = "127.0.0.1", protos
		conn, err := tls.Dial("tcp", l.Addr(), c)
		if err == nil {
			p := peerOn(t, conn)
			_, _ = conn.Write(bits(t, honest))
			if b, _ := io.ReadAll(p); len(b) != 0 {
				t.Errorf("with protocols %v it was answered %q", protos, b)
			}
		}
	}
	web := ca.config("web")
	wl, err := tls.Listen("tcp", "127.0.0.1:0", web)
	if err != nil {
		t.Fatal(err)
	}
	defer wl.Close()
	go func() {
		if c, err := wl.Accept(); err == nil {
			_ = c.(*tls.Conn).Handshake()
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	}()
	if a := <-dialOn(t, d, wl.Addr().String(), ""); a.err == nil || !strings.Contains(a.err.Error(), alpn) {
		t.Errorf("a server of something else: %v", a.err)
	}
}

// TestTLSConfigs has configurations that will not do.
func TestTLSConfigs(t *testing.T) {
	ca := newAuthority(t)
	good := ca.config("alice")
	old := good.Clone()
	old.MaxVersion = tls.VersionTLS12
	for name, cfg := range map[string]*rdma.Config{
		"an old version": {TLS: old}, "plain": {TLS: good, Plain: true}, "not TLS": {TLS: nothing{}}, "a nil pointer": {TLS: (*tls.Config)(nil)},
	} {
		if _, err := New(Options{}).Open(limit(t), "", cfg); !errors.Is(err, rdma.ErrConfig) {
			t.Errorf("opened with %s: %v", name, err)
		}
	}
	d := openDomain(t, Options{}, under(&tls.Config{RootCAs: ca.pool}))
	if _, err := d.Listen(limit(t), ""); !errors.Is(err, rdma.ErrConfig) || !strings.Contains(err.Error(), "Certificates") {
		t.Errorf("listened without a certificate: %v", err)
	}
	if good.NextProtos != nil || good.MinVersion != 0 {
		t.Error("the user's configuration was changed")
	}
	chosen := harden(&tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return good, nil }})
	if c, err := chosen.GetConfigForClient(nil); err != nil || c.MinVersion != tls.VersionTLS13 || len(c.NextProtos) != 1 {
		t.Errorf("a configuration that is chosen is %+v, %v", c, err)
	}
}

type nothing struct{}

func (nothing) SetSessionTicketKeys([][32]byte) {}
