package rdma

// Nil pointers and zero values stand for what was not opened: what is asked of
// them is an error that says so, and their properties are empty.
var (
	errNoDevice = wrap(ErrClosed, "no device: a nil pointer or a zero value; Open gives them")
	errNoDomain = wrap(ErrClosed, noDomain)
	errNoListen = wrap(ErrClosed, "no listener: a nil pointer or a zero value; Domain.Listen gives them")
	errNoConn   = wrap(ErrClosed, "no connection: a nil pointer or a zero value; Dial and Accept give them")
	errNoScoped = wrap(ErrClosed, "no right: a nil pointer or a zero value; Grant gives them")
	errNoOp     = wrap(ErrOp, "wait: a zero Op; operations that were posted give others")
)

const noDomain = "no domain: a nil pointer or a zero value; Device.Domain gives them"

func (d *Device) none() bool    { return d == nil || d.adapter == nil }
func (dom *Domain) none() bool  { return dom == nil || dom.pd == nil }
func (ln *Listener) none() bool { return ln == nil || ln.acceptor == nil }
func (c *Conn) none() bool      { return c == nil || c.dom == nil }
