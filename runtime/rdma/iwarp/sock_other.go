//go:build !linux

package iwarp

import (
	"fmt"
	"net"
	"runtime"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// sockOptions are those of the sockets of an adapter. What Go has for all systems is set; the rest is refused where it
// was asked for.
type sockOptions struct {
	dscp rdma.DSCP
	mtu  int // of packets, or 0 for what the path has
}

// What TCP does about a peer that does not answer.
const (
	idle     = 15 * time.Second
	interval = 5 * time.Second
	probes   = 3
)

// possible says which option this system does not have.
func (o sockOptions) possible() error {
	if o.dscp > 0 {
		return fmt.Errorf("the class of service of packets cannot be set on %s; leave DSCP 0", runtime.GOOS)
	}
	return nil
}

// control sets what has to be there before the first packet: nothing that all systems have.
func (sockOptions) control(string, string, syscall.RawConn) error { return nil }

// apply sets the options of a connection, as far as the system has them.
func (sockOptions) apply(conn *net.TCPConn) error {
	_ = conn.SetNoDelay(true)
	_ = conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: idle, Interval: interval, Count: probes})
	return nil
}

// segment is how many bytes go into a segment of a connection. It is not asked of this system: those of an Ethernet
// are assumed, or of the MTU that was given.
func (o sockOptions) segment(*net.TCPConn) int {
	if o.mtu > 0 {
		return o.mtu - 60
	}
	return defaultSegment
}

// pending reports whether there is something to read, where that can be told.
func pending(*net.TCPConn) bool { return true }
