package rdma

// Process is who a peer is by the word of the operating system: as the two connected, and whatever the
// peer itself says.
type Process struct {
	PID int // 0 where it cannot be told: the peer is in another PID namespace
	UID int // the user; -1 on systems that have no numbers for users
	GID int // the user's group; -1 as well
}

// Identified is a [Queue] whose provider knows whose process its peer is. It is optional.
type Identified interface {
	// Process is the peer's, nil where it is not known.
	Process() *Process
}

// TLSState is a [*crypto/tls.ConnectionState], and nothing else is, for the reason of [TLSConfig]:
//
//	state, ok := r.TLS.(*tls.ConnectionState) // not ok: the connection is not under TLS
type TLSState interface {
	ExportKeyingMaterial(label string, context []byte, length int) ([]byte, error)
}

// Secured is a [Queue] that may be under TLS. It is optional.
type Secured interface {
	// TLS is the state when the handshake was done, a copy; nil without TLS.
	TLS() TLSState
}

// requestOf is a request of the peer of a queue.
func requestOf(q Queue) Request {
	r := Request{Peer: q.Peer()}
	if x, ok := q.(Identified); ok {
		r.Process = x.Process()
	}
	if x, ok := q.(Secured); ok {
		r.TLS = x.TLS()
	}
	return r
}
