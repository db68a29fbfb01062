package iwarp_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// between runs an owner on one host and its peer on the other, and wants both to end well.
func (n *network) between(t testing.TB, e errand) {
	t.Helper()
	e.Role, e.Addr = "owner", at(0, e.V6, "0")
	owner := begin(t, n.hosts[0], e)
	e.Role, e.Addr = "peer", owner.hear("at ")
	peer := begin(t, n.hosts[1], e)
	peer.ends(4 * time.Minute)
	owner.ends(time.Minute)
}

// TestTwoHosts has a process on one host use the memory of one on another by all verbs, and each look at what came of it.
func TestTwoHosts(t *testing.T) {
	size := 16 << 20
	if testing.Short() {
		size = 1 << 20
	}
	n := newNetwork(t)
	for name, e := range map[string]errand{
		"IPv4": {}, "IPv6": {V6: true}, "TLS": {TLS: certificates(t)}, "TLS, IPv6": {TLS: certificates(t), V6: true},
		"TLS, no checksums": {TLS: certificates(t), NoCRC: true},
	} {
		t.Run(name, func(t *testing.T) {
			e.Bytes, e.Seed = size, 11
			n.between(t, e)
		})
	}
}

// TestOnTheWire has them do the same with the test carrying each packet: what is in the packets is what was asked for.
func TestOnTheWire(t *testing.T) {
	needNetworks(t)
	const crc = 0x40 // of the flags of MPA's start-up. Source: RFC 5044, section 7.1.
	for name, c := range map[string]struct {
		e     errand
		class uint8
	}{
		"IPv4":         {errand{NoCRC: true}, 0}, // which is refused between hosts
		"IPv4, class":  {errand{DSCP: 26}, 26},
		"IPv6, class":  {errand{DSCP: 46, V6: true}, 46},
		"TLS":          {errand{TLS: certificates(t), NoCRC: true}, 0},
		"TLS of class": {errand{TLS: certificates(t), DSCP: 10, V6: true}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			n := newWired(t)
			c.e.Bytes, c.e.Seed = 1<<20, 12
			n.between(t, c.e)
			for end := range 2 {
				s := n.wire.look(end)
				t.Logf("from host %d: %+v", end, s)
				// The reset of a host that knows a connection no longer is of no class.
				if got := s.classes[c.class]; got < s.packets-3 || got < 100 {
					t.Errorf("%d of %d packets of host %d have class %d: %v", got, s.packets, end, c.class, s.classes)
				}
				if most := packets - headersOf(c.e.V6); s.longest != most {
					t.Errorf("the longest payload of host %d has %d bytes, want %d", end, s.longest, most)
				}
				word := []string{"Rep", "Req"}[end]
				switch flags, seen := s.startups[word]; {
				case c.e.TLS != "" && len(s.startups) > 0:
					t.Errorf("under TLS, start-up frames can be read: %v", s.startups)
				case c.e.TLS == "" && (!seen || flags&crc == 0):
					t.Errorf("between hosts, host %d did not insist on checksums: %v", end, s.startups)
				}
			}
		})
	}
}

// certificates makes a directory with a key, a certificate for both hosts, and the authority that signed it.
func certificates(t testing.TB) string {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "two hosts"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	for _, a := range addresses {
		cert.IPAddresses = append(cert.IPAddresses, net.ParseIP(a.v4), net.ParseIP(a.v6))
	}
	der := must(x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key))(t)
	dir := t.TempDir()
	secret := must(x509.MarshalPKCS8PrivateKey(key))(t)
	ok(t, os.WriteFile(filepath.Join(dir, "key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	ok(t, os.WriteFile(filepath.Join(dir, "cert"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return dir
}

// loadTLS is the configuration of a side that has such a directory, and wants the other to have it too.
func loadTLS(dir string) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert"), filepath.Join(dir, "key"))
	if err != nil {
		return nil, err
	}
	root, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(root)
	return &tls.Config{
		Certificates: []tls.Certificate{cert}, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}, nil
}
