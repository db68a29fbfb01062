package iwarp

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// sockOptions are those of the sockets of an adapter.
type sockOptions struct {
	dscp rdma.DSCP
	mtu  int // of packets, or 0 for what the path has
}

// What TCP does about a peer that does not answer: it is asked after idle, and lost when nothing that was sent is
// acknowledged for userTimeout. Source: tcp(7), TCP_USER_TIMEOUT.
const (
	userTimeout = 30 * time.Second
	idle        = 15 * time.Second
	interval    = 5 * time.Second
	probes      = 3
)

// possible says which option this system does not have.
func (sockOptions) possible() error { return nil }

// control sets what has to be there before the first packet. It is for net.Dialer and net.ListenConfig.
func (o sockOptions) control(_, _ string, c syscall.RawConn) error {
	return onSocket(c, func(fd int) error {
		if o.mtu > 0 {
			if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, o.mtu-headers(fd)); err != nil {
				return fmt.Errorf("the segments of an MTU of %d (TCP_MAXSEG): %w", o.mtu, err)
			}
		}
		return o.mark(fd)
	})
}

// apply sets the options of a connection. Those that only make it faster, or notice sooner that the peer is gone, are
// done without where the system refuses them.
func (o sockOptions) apply(conn *net.TCPConn) error {
	_ = conn.SetNoDelay(true)
	_ = conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: idle, Interval: interval, Count: probes})
	c, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	return onSocket(c, func(fd int) error {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout/time.Millisecond))
		return o.mark(fd)
	})
}

// mark sets the class of service, of both families where the socket has both. Source: ip(7), ipv6(7).
func (o sockOptions) mark(fd int) error {
	if o.dscp == 0 {
		return nil
	}
	class := int(o.dscp.TrafficClass())
	four := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, class)
	six := error(nil)
	if family(fd) == unix.AF_INET6 {
		four = nil // it may be for IPv6 only
		six = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, class)
	}
	if err := errors.Join(four, six); err != nil {
		return fmt.Errorf("the class of service %d (Config.DSCP): %w", o.dscp.Wire(), err)
	}
	return nil
}

func family(fd int) int {
	f, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return unix.AF_UNSPEC
	}
	return f
}

// headers are the bytes of a packet before the segment, without options.
func headers(fd int) int {
	if family(fd) == unix.AF_INET6 {
		return 40 + 20
	}
	return 20 + 20
}

// segment is how many bytes go into a segment of a connection, as its two ends agreed and the path allows. It grows
// after the first octets: until then it is half of the window at most.
func (o sockOptions) segment(conn *net.TCPConn) int {
	mss := defaultSegment
	if c, err := conn.SyscallConn(); err == nil {
		_ = onSocket(c, func(fd int) error { mss = o.segmentOf(fd); return nil })
	}
	return mss
}

// segmentOf is segment by the descriptor. It allocates nothing.
func (o sockOptions) segmentOf(fd int) int {
	mss, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG)
	if err != nil || mss <= 0 {
		return defaultSegment
	}
	if o.mtu > 0 {
		mss = min(mss, o.mtu-headers(fd))
	}
	return mss
}

// pending reports whether there is something to read, the end of the connection included.
func pending(conn *net.TCPConn) bool {
	c, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	some := false
	err = onSocket(c, func(fd int) error {
		var b [1]byte
		_, _, err := unix.Recvfrom(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		some = !errors.Is(err, unix.EAGAIN)
		return nil
	})
	return some || err != nil
}

// onSocket calls f with the descriptor of a connection.
func onSocket(c syscall.RawConn, f func(fd int) error) error {
	var err error
	if cerr := c.Control(func(fd uintptr) { err = f(int(fd)) }); cerr != nil {
		return cerr
	}
	return err
}
