package iwarp

import (
	"net"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// session is what the handshake agreed on. Its connection is the queue's from newQueue on.
type session struct {
	conn      net.Conn     // TCP, TLS, or whatever the program dials with
	tcp       *net.TCPConn // conn itself where it is plain TCP, so that system calls can be made on it; else nil
	early     []byte       // what was read beyond the frames of the handshake
	initiator bool         // we dialled, and send the first FPDU
	ready     fpdu.RTR     // what the initiator sends first, and the acceptor waits for before it sends
	crc       bool         // checksums are computed and checked
	ours      bool         // the peer is this package: RFC 7306, and numbers with sends
	tells     bool         // segments tell how many follow, see ahead.go
	ird       int          // reads and atomics of the peer that we answer at a time
	ord       int          // reads and atomics of ours that may be outstanding
	mulpdu    int          // bytes of a ULPDU at most: header and payload of a segment
	fixed     bool         // so it stays; else TCP is asked now and then
	hello     []byte       // of the peer, without what is this package's
	peer      string       // its address, for errors
}
