package verbs

import (
	"errors"
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// ErrNoVerbs is why there is no device: no library, no kernel support, or another system.
var ErrNoVerbs = errors.New("no verbs here")

const providerName = "verbs"

// Options are what a provider works with. The zero value is good.
type Options struct {
	// Library is the name or path of libibverbs; empty: libibverbs.so.1.
	Library string
	// GIDIndex, if it is not 0, is one more than the index of the GID that all connections use: an entry of
	// /sys/class/infiniband/DEVICE/ports/PORT/gids. 0: chosen for each connection.
	GIDIndex int
	// OpenSinks registers memory of iWARP devices so that peers could write to it, also where it grants them nothing: such a device
	// reads into no other memory. What protects it then is that nobody is told its key, a number of 32 bits. Without
	// it a read into a region that does not grant remote_write is refused: [ErrSink].
	OpenSinks bool
}

// Provider opens devices. It may be used from several goroutines.
type Provider struct{ opts Options }

var _ rdma.Provider = (*Provider)(nil)

var standard = New(Options{})

func init() { rdma.Use(standard) }

// New makes a provider. What importing this package puts in use is New(Options{}).
func New(opts Options) *Provider { return &Provider{opts: opts} }

// Name is "verbs".
func (*Provider) Name() string { return providerName }

// OnDemandError is why memory cannot be registered on demand, as [rdma.Config.OnDemand] wants it: the device cannot. It is an
// [errors.ErrUnsupported].
type OnDemandError struct {
	Device string
	Lacks  string // what it cannot
}

// Error says what there is to do.
func (e *OnDemandError) Error() string {
	return fmt.Sprintf("%s cannot register memory on demand: %s; take another device, or leave Config.OnDemand out: memory is then pinned", e.Device, e.Lacks)
}

// Unwrap is [errors.ErrUnsupported].
func (*OnDemandError) Unwrap() error { return errors.ErrUnsupported }

// ErrSink is why a read is not posted on an iWARP device: peers may not write to the region that it is to land in.
var ErrSink = fmt.Errorf("%w: an iWARP device reads only into regions that peers may write to; grant remote_write on it, or make the provider with Options.OpenSinks", rdma.ErrRights)

// MemlockError is why memory could not be registered: it would be more than the process may lock.
type MemlockError struct {
	Need  uint64 // bytes that were to be registered
	Used  uint64 // bytes that are locked already
	Limit uint64 // of the process: RLIMIT_MEMLOCK
}

// Error says what there is to do.
func (e *MemlockError) Error() string {
	return fmt.Sprintf("registering %d bytes needs them locked, and the process may lock %d, of which %d are taken: raise the limit (ulimit -l, LimitMEMLOCK= of systemd, memlock of /etc/security/limits.conf), or grant CAP_IPC_LOCK",
		e.Need, e.Limit, e.Used)
}
