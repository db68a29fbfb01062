package rdma_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	_ "github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

// betweenHosts is for peers that show certificates of one authority, and of them for those of one name.
func betweenHosts(mine tls.Certificate, authority *x509.CertPool, peer string) rdma.Config {
	return rdma.Config{
		Device: "iwarp",
		TLS: &tls.Config{
			Certificates: []tls.Certificate{mine},
			RootCAs:      authority,                      // of whom we dial
			ClientCAs:    authority,                      // of who dials us,
			ClientAuth:   tls.RequireAndVerifyClientCert, // and shows one
		},
		Authorize: func(r rdma.Request) error { // when a peer connects, and for each import
			state, ok := r.TLS.(*tls.ConnectionState)
			if !ok || state.PeerCertificates[0].Subject.CommonName != peer {
				return errors.New("this is for " + peer)
			}
			return nil
		},
	}
}

// Two hosts, with mutual TLS. The address to listen at is ":7471" there, or that of one network; here
// both are in one process.
func ExampleConfig_hosts() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	authority, issue := newAuthority()

	server, err := rdma.Open(ctx, betweenHosts(issue("server"), authority, "client"))
	check(err)
	defer server.Close()
	there, err := server.Domain()
	check(err)
	ln, err := there.Listen(ctx, "127.0.0.1:0")
	check(err)
	go func() {
		for {
			conn, err := ln.Accept(ctx) // those who may
			if err != nil {
				return
			}
			check(conn.SendBytes(ctx, []byte("welcome")))
		}
	}()
	for _, name := range []string{"client", "stranger"} {
		dev, err := rdma.Open(ctx, betweenHosts(issue(name), authority, "server"))
		check(err)
		defer dev.Close()
		here, err := dev.Domain()
		check(err)
		conn, err := here.Dial(ctx, ln.Addr()) // the certificate there is for this host's name, or address
		if errors.Is(err, rdma.ErrRefused) {
			fmt.Println(name, "is refused")
			continue
		}
		check(err)
		var b [16]byte
		n, err := conn.Receive(ctx, b[:])
		check(err)
		fmt.Printf("%s: %q\n", name, b[:n])
	}
	check(ln.Close())
	// Output:
	// client: "welcome"
	// stranger is refused
}

// newAuthority makes an authority, and what it issues certificates with.
func newAuthority() (*x509.CertPool, func(name string) tls.Certificate) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	sign := func(cert *x509.Certificate, public any) []byte {
		der, err := x509.CreateCertificate(rand.Reader, cert, root, public, key)
		check(err)
		return der
	}
	parsed, err := x509.ParseCertificate(sign(root, &key.PublicKey))
	check(err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool, func(name string) tls.Certificate {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		check(err)
		cert := &x509.Certificate{
			SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}
		return tls.Certificate{Certificate: [][]byte{sign(cert, &own.PublicKey)}, PrivateKey: own}
	}
}
