package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

// friend opens what package barewire has for the runtime's own packages.
var friend = seal.Key()

// Device is an open GPU. Its methods may be called by several goroutines.
//
//barewire:type handle
type Device struct {
	ad   Adapter
	info DeviceInfo
	name string // cuda/0

	patience time.Duration // with calls of the driver that take no context

	kernels *gate // against the host, where it excludes them: Facts.Exclusive. It is that of all who have the device open

	mu      sync.Mutex
	queues  []*Queue
	regions map[*memory]string // by what memory; their names
	modules int
	closed  bool
}

func newDevice(ad Adapter, info DeviceInfo, patience time.Duration) *Device {
	name := info.Provider + "/" + info.Name
	g, _ := gates.LoadOrStore(name, &gate{})
	return &Device{ad: ad, info: info, name: name, patience: patience, kernels: g.(*gate), regions: map[*memory]string{}}
}

// gates are the devices' gates for kernels, by name: a device that is opened twice is one device.
var gates sync.Map

// none reports whether there is no such device.
func (d *Device) none() bool { return d == nil || d.ad == nil }

// Info is what is known of the device.
//
//barewire:effect looks=d
func (d *Device) Info() DeviceInfo {
	if d.none() {
		return DeviceInfo{}
	}
	return d.info
}

// String is the device's name: "cuda/0".
//
//barewire:effect looks=d
func (d *Device) String() string {
	if d.none() {
		return "no device"
	}
	return d.name
}

// Lost is why the device cannot be used any more: [ErrLost] and what it said. It is nil where it can.
//
//barewire:effect looks=d
func (d *Device) Lost() error {
	if d.none() {
		return ErrNoDevice
	}
	return d.ad.Lost()
}

// Sync returns when all that was posted on queues of the device has ended, or ctx ends. What failed, the queues say.
//
//barewire:effect flushes=d, looks=d
func (d *Device) Sync(ctx context.Context) error {
	if d.none() {
		return ErrNoDevice
	}
	var errs []error
	for _, q := range d.all() {
		if err := q.Flush(ctx); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// all are the queues that are open.
func (d *Device) all() []*Queue {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.queues)
}

// enter counts something that has to be closed before the device, unless that is closed.
func (d *Device) enter(add func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return wrap(ErrClosed, "%s", d.name)
	}
	add()
	return nil
}

// Close gives the device up. It is [ErrBusy] while regions, queues or modules of it are open, and says which: also those that
// were closed, and the driver has not taken back ([ErrHung]).
//
//barewire:effect releases=d on ok
func (d *Device) Close() error {
	if d.none() {
		return ErrNoDevice
	}
	if err := d.end(); err != nil {
		return err
	}
	if err := d.call(d.ad.Close, nil); err != nil {
		return fmt.Errorf("gpu: close: %s: %w", d.name, err)
	}
	return nil
}

// end notes that the device is closed, unless something of it is in use.
func (d *Device) end() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return wrap(ErrClosed, "close: %s", d.name)
	}
	if left := d.left(); left != "" {
		return wrap(ErrBusy, "close: %s: %s must be closed first", d.name, left)
	}
	d.closed = true
	return nil
}

// left says what is open. The lock is held.
func (d *Device) left() string {
	var s []string
	if n := len(d.queues); n > 0 {
		s = append(s, plural(n, "queue")+" ("+d.queues[0].state()+")")
	}
	if n := len(d.regions); n > 0 {
		one := ""
		for _, name := range d.regions {
			one = name
			break
		}
		s = append(s, plural(n, "region")+" ("+one+")")
	}
	if d.modules > 0 {
		s = append(s, plural(d.modules, "module"))
	}
	return strings.Join(s, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
