package rdma

import (
	"fmt"
	"log/slog"
	"reflect"
	"time"
)

// DeviceInfo is a device that a provider has.
type DeviceInfo struct {
	Provider  string // "soft"
	Name      string // in the provider
	Transport string // "InfiniBand", "RoCEv2", "iWARP", "SoftRDMA"
	State     string // "active", or why it cannot be used
	Detail    string // link layer, firmware, node: what a person would ask
}

// StateActive is the State of a device that can be used.
const StateActive = "active"

// Config says what device is wanted and how its connections behave. The zero
// value is good: the best device that is there, with the defaults of its transport.
//
// Depth, MaxMessage, MTU and DSCP may be given here or in the Transport. What a device cannot
// do is lowered to what it can, and MTU and the messages one sends to what the peer can when
// they connect. Depth is of what one side has outstanding, so each side has its own.
type Config struct {
	Provider  Provider  // nil: any that is in use, see [Use]
	Device    string    // "provider", "provider/name" or "name"; empty: the best that is there
	Transport Transport // nil: any

	Depth      int  // operations outstanding on a connection, 1 to 65536; 0: the transport's default
	MaxMessage int  // bytes of one message, 512 to 16 MiB; 0: 4096. A connection has Credits buffers of it
	MTU        int  // bytes of one packet; 0: the transport's default
	DSCP       DSCP // class of service, where the transport is IP; 0: the transport's default

	Credits          int           // receives that a connection keeps posted, 32 to 4096; 0: 64
	OpTimeout        time.Duration // an operation that takes longer aborts its connection; 0: 30 s, negative: never
	HandshakeTimeout time.Duration // for Dial and each Accept; 0: 10 s
	Mode             Mode          // how completions are waited for
	MaxConns         int           // listeners refuse peers while their domain has so many; 0: 1024
	MaxOffers        int           // offers and unanswered imports of a connection; 0: 1024

	// Plain is for peers that are other programs, as rping is: connections say nothing of barewire's
	// when they are made, and send nothing of their own. There are no names (Offer and Import), no credits,
	// and nobody is told what is revoked; see [AddressOf] and [Foreign]. It is for devices that others speak to:
	// shm refuses it with [ErrConfig]. Without it a peer that says nothing of ours is
	// answered likewise: [Conn.Plain] tells.
	Plain bool

	// OnDemand registers memory without pinning it: the device takes a page fault where it needs a page, as a processor does, and
	// memory may be larger than what the process may lock. Devices that cannot are passed over. The providers in software pin nothing anyway.
	OnDemand bool

	// TLS is a [*crypto/tls.Config]; nil: none. All connections of the device then are under TLS, and a peer without is
	// refused; both ends are programs with this package. To listen takes Certificates, and
	// ClientAuth with ClientCAs where peers have to show theirs too (RequireAndVerifyClientCert; [Request.TLS] has
	// them then). To dial takes RootCAs, and Certificates where the peer asks for them; ServerName is
	// the host of the address if it is empty. It must not be changed any more. Devices that have no network, which
	// soft's and shm's are, refuse it with [ErrConfig].
	TLS TLSConfig

	// Authorize decides on each request of a peer before any key leaves: once
	// when it connects, and for each import. Nil allows all. What
	// it does not decide within HandshakeTimeout is refused. It is called from several goroutines.
	Authorize func(Request) error
	Logger    *slog.Logger // for violations and failed connections; nil: slog.Default()
	Observer  func(Event)  // sees what happens, see [Event]; it must not block, nor use the connection
}

// TLSConfig is [*crypto/tls.Config], and nothing else is. It is said by one of its methods, because
// naming the type links package crypto/tls, about 1 MB, into programs that never leave their host.
type TLSConfig interface {
	SetSessionTicketKeys(keys [][32]byte)
}

// Request is what a peer asks for.
type Request struct {
	Peer    string   // its address, in the provider's form
	Process *Process // whose it is; nil where the provider cannot tell, as between machines
	TLS     TLSState // a [*crypto/tls.ConnectionState]: PeerCertificates and so on; nil without [Config.TLS]
	Name    string   // of the offer to import; empty where the peer connects
	Type    string   // of the offer's elements
	Rights  string   // what was asked for, as in "remote_read"
}

// DSCP is the class of service of packets, 1 to 63. Zero stands for the transport's
// default; for class 0 on the wire use [BestEffort].
// Source: RFC 2474, section 3. The traffic class of IPv6 and the type of
// service of IPv4 are this number times four.
type DSCP int

// BestEffort is class 0.
const BestEffort DSCP = -1

// Wire is the number in the packets, 0 to 63.
func (d DSCP) Wire() uint8 { return uint8(max(d, 0)) & 63 }

// TrafficClass is the byte of the IP header, without the bits of congestion notification.
func (d DSCP) TrafficClass() uint8 { return d.Wire() << 2 }

// Mode is how completions are waited for.
type Mode uint8

// The modes.
const (
	// ByEvent waits for an event of the device: nothing is burnt, and a completion takes a wake-up.
	ByEvent Mode = iota
	// Adaptive polls for some microseconds first, if there is a processor to spare.
	Adaptive
	// Busy polls and never sleeps. No goroutine watches the connection: what
	// the peer asks for is answered while the program waits or calls [Conn.Poll].
	Busy
)

// Limits of what a configuration may ask for.
const (
	maxDepth      = 1 << 16
	minMessage    = 512
	maxMessage    = 16 << 20
	minCredits    = 32
	maxCredits    = 4096
	maxPool       = 1 << 30 // bytes of the receive buffers of one connection
	maxOffersEver = 1 << 20
)

// resolve returns the configuration with the transport's values and the defaults filled in.
func (c Config) resolve() (Config, error) {
	if isNilPointer(c.Transport) || isNilPointer(c.Provider) {
		return c, fmt.Errorf("%w: its Transport or Provider is a nil pointer; leave it out for any", ErrConfig)
	}
	if isNilPointer(c.TLS) { // it would look like none, and somebody meant one
		return c, fmt.Errorf("%w: its TLS is a nil *tls.Config; leave it out for none", ErrConfig)
	}
	if c.TLS != nil && c.Plain {
		return c, fmt.Errorf("%w: TLS is between programs with this package, and Plain is for others; leave one of them out", ErrConfig)
	}
	if c.Transport != nil {
		if err := c.Transport.settle(&c); err != nil {
			return c, err
		}
	}
	fill(&c.Depth, 128)
	fill(&c.MaxMessage, 4096)
	fill(&c.MTU, 4096)
	fill(&c.Credits, 64)
	fill(&c.MaxOffers, 1024)
	fill(&c.MaxConns, 1024)
	fill(&c.OpTimeout, 30*time.Second)
	fill(&c.HandshakeTimeout, 10*time.Second)
	for _, r := range []struct {
		name         string
		v, low, high int
	}{
		{"Depth", c.Depth, 1, maxDepth},
		{"MaxMessage", c.MaxMessage, minMessage, maxMessage},
		{"MTU", c.MTU, 256, 1 << 16},
		{"Credits", c.Credits, minCredits, maxCredits},
		{"MaxOffers", c.MaxOffers, 1, maxOffersEver},
		{"MaxConns", c.MaxConns, 1, maxOffersEver},
		{"DSCP", int(c.DSCP), int(BestEffort), 63},
		{"Mode", int(c.Mode), int(ByEvent), int(Busy)},
	} {
		if r.v < r.low || r.v > r.high {
			return c, fmt.Errorf("%w: %s is %d, want %d to %d", ErrConfig, r.name, r.v, r.low, r.high)
		}
	}
	if c.HandshakeTimeout < 0 {
		return c, fmt.Errorf("%w: HandshakeTimeout is %v, want more than 0", ErrConfig, c.HandshakeTimeout)
	}
	if int64(c.Credits)*int64(c.MaxMessage) > maxPool {
		return c, fmt.Errorf("%w: %d Credits of MaxMessage %d take more than 1 GiB a connection", ErrConfig, c.Credits, c.MaxMessage)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, nil
}

// isNilPointer reports whether there is a pointer in an interface, to nothing.
func isNilPointer(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// fill sets what is zero.
func fill[N ~int | ~int64](p *N, v N) {
	if *p == 0 {
		*p = v
	}
}
