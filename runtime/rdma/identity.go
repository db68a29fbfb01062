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

// requestOf is a request of the peer of a queue.
func requestOf(q Queue) Request {
	r := Request{Peer: q.Peer()}
	if x, ok := q.(Identified); ok {
		r.Process = x.Process()
	}
	return r
}
