package rdma

// maxBatch is how many operations are handed to the device at once.
const maxBatch = 32

// Batch collects operations of a connection, which reach the device together, with one
// doorbell: by [Batch.Post], when 32 are collected, when another operation is posted on
// the connection, or when something is waited for. A connection has one Batch, for all of its goroutines.
//
//barewire:type queue
type Batch struct{ c *Conn }

// Batch is where operations are collected: give it to the functions that post
// instead of the connection.
//
//	b := conn.Batch()
//	for i := range n {
//		ops[i], err = rdma.Write(b, rem.Slice(i, 1), src.Span(i, 1))
//	}
//	err = b.Post()
//
//barewire:effect within=0 of c
func (c *Conn) Batch() *Batch {
	if c.none() {
		return nil
	}
	return &c.batch
}

// Post hands over what is collected. An error fails the connection, and with it
// what the device did not take.
func (b *Batch) Post() error {
	if b == nil || b.c == nil {
		return errNoConn
	}
	return b.c.handOver()
}

func (b *Batch) poster() (*Conn, bool) {
	if b == nil {
		return nil, false
	}
	return b.c, true
}
