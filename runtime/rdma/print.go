package rdma

import "fmt"

// What is printed is a name. The fmt package would read the fields, which others
// write meanwhile.

// String says what device it is, for logs.
func (d *Device) String() string {
	if d.none() {
		return "no device"
	}
	return "device " + d.info.Provider + "/" + d.info.Name
}

// String says whose domain it is, for logs.
func (dom *Domain) String() string {
	if dom.none() {
		return "no domain"
	}
	return "a domain of " + dom.dev.String()
}

// String says where it listens, for logs.
func (ln *Listener) String() string {
	if ln.none() {
		return "no listener"
	}
	return "listener at " + ln.Addr()
}

// String says who the peer is, for logs.
func (c *Conn) String() string {
	if c.none() {
		return "no connection"
	}
	return "connection with " + c.peer
}

// String says which operation it is, for logs: by the number that [OpError] has.
//
//barewire:effect looks=o
func (o Op) String() string {
	if o.c.none() {
		return "no operation"
	}
	return fmt.Sprintf("operation %d of the %v", o.seq, o.c)
}

// String says who has the scoped right, for logs.
func (g *Scoped[T, A]) String() string {
	if g == nil || g.s == nil {
		return "no right"
	}
	return fmt.Sprintf("a right on %T for the %v", *new(T), g.s.conn)
}
