// Package verbs is what cmd/benchrdma and cmd/benchiwarp measure: operations between two processes and
// within one, windows on regions, and beside each what one would write by hand, what else
// there is, and what the machine allows.
package verbs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Row is one line of a table.
type Row struct {
	Table string
	Name  string
	Class rows.Class
	Note  string // what a reader must know to judge the row

	Per     int  // how many of the table's units an operation of the loop is; 0: one
	Wall    bool // wall time, where more than one process takes part; else CPU time
	NoAlloc bool // ours promises that nothing is allocated here
	Bytes   int  // that a unit moves, where throughput is of interest

	Open func() (*Loop, error)
}

// Place is where the row stands.
func (r *Row) Place() (table, name string) { return r.Table, r.Name }

// Loop is an opened row. Run does n operations, as straight as they can be written.
type Loop struct {
	Run   func(n int) error
	close []func() error
	env   []string // of the peer
	peers []*process
}

// Close ends what the row opened, last opened first.
func (l *Loop) Close() error {
	var errs []error
	for i := len(l.close) - 1; i >= 0; i-- {
		errs = append(errs, l.close[i]())
	}
	l.close = nil
	return errors.Join(errs...)
}

// Calibrate warms the row up for some time and finds how many operations take a window.
func (l *Loop) Calibrate(d, window time.Duration) (n int, err error) {
	n = 1
	least := time.Duration(1 << 62)
	for end := time.Now().Add(d); time.Now().Before(end); {
		start := time.Now()
		if err := l.Run(n); err != nil {
			return 0, err
		}
		took := time.Since(start)
		if took < window/2 {
			n *= 2
			continue
		}
		if each := took / time.Duration(n); each < least {
			least = each
			n = max(int(window/max(each, 1)), 1)
		}
	}
	return n, nil
}

// onClose adds what Close does.
func (l *Loop) onClose(f func() error) { l.close = append(l.close, f) }

// registered makes a region of n elements that a grant goes with, and closes it with the loop.
func registered[T barewire.Fixed[T], A barewire.Registered](l *Loop, dom *rdma.Domain, p barewire.Place[T, barewire.CPU], g barewire.Grant[T, A], n int) (*barewire.Region[T, barewire.CPU, A], error) {
	r, err := barewire.New(p, n)
	if err != nil {
		return nil, err
	}
	mr, err := rdma.Register(dom, r, g)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	l.onClose(mr.Close)
	return mr, nil
}

// opened opens a window, and closes it with the loop.
func opened[T barewire.Fixed[T], A barewire.Access](l *Loop, r *barewire.Region[T, barewire.CPU, A]) (barewire.Window[T, A], error) {
	w, err := barewire.Open(r)
	if err != nil {
		return w, err
	}
	l.onClose(w.Close)
	return w, nil
}

// opener makes a row's Open of a function that adds to a Loop what is to be
// closed, also where it fails.
func opener(open func(*Loop) error) func() (*Loop, error) {
	return func() (*Loop, error) {
		l := &Loop{}
		if err := open(l); err != nil {
			return nil, errors.Join(err, l.Close())
		}
		return l, nil
	}
}

// The tables, in their order.
const (
	RoundTrip   = "64 bytes there and back, two processes"
	Software    = "of that what our code takes: both sides on one thread"
	Bulk        = "1 MiB to another process"
	Small       = "8 bytes written, and its end seen, one process (soft)"
	Batches     = "32 writes of 8 bytes at once, each (soft)"
	Device      = "8 bytes written, and its end seen, by a device that takes no time (verbs)"
	DeviceBatch = "32 writes of 8 bytes at once, each, by a device that takes no time (verbs)"
	ReadOne     = "read one field of each element, castable, an element"
	WriteTwo    = "write two fields of each element, castable, an element"
	ReadFixed   = "read one field of each element, not castable, an element"
	Whole       = "take a copy of one element of 64 bytes"
	Opening     = "open a window and close it"
)

// Tables lists them.
var Tables = []string{RoundTrip, Software, Bulk, Small, Batches, Device, DeviceBatch, ReadOne, WriteTwo, ReadFixed, Whole, Opening}

// Wanted is a proportion that is aimed at: Of's time over To's, at most Most. Where several
// are named in To the fastest counts.
type Wanted struct {
	Table string
	What  string
	Of    []string
	To    []string
	Most  float64 // Of / To
	Least float64 // or To / Of, at least
	CPU   bool    // of processor time, where a table has both; else of its own clock
}

// All returns the rows, those of a table together.
func All() []Row {
	var all []Row
	for _, t := range [][]Row{roundTrips(), bulks(), smalls(), batches(), devices(), views()} {
		all = append(all, t...)
	}
	return all
}

// Goals are the wanted proportions.
func Goals() []Wanted {
	raw := []string{"unix stream, system calls", "unix seqpacket, system calls"}
	return append([]Wanted{
		{Table: RoundTrip, What: "shm, busy: a bare memfd", Of: []string{"shm, busy"}, To: []string{"memfd"}, Most: 2},
		{Table: RoundTrip, What: "shm, busy: times faster than a Unix socket, package net", Of: []string{"shm, busy"}, To: []string{"unix stream, package net"}, Least: 10},
		{Table: RoundTrip, What: "shm, busy: times faster than one by system calls", Of: []string{"shm, busy"}, To: raw, Least: 10},
		{Table: RoundTrip, What: "shm, busy: times faster than gRPC, calls", Of: []string{"shm, busy"}, To: []string{"grpc, calls"}, Least: 50},
		{Table: RoundTrip, What: "shm, busy: times faster than gRPC, stream", Of: []string{"shm, busy"}, To: []string{"grpc, stream"}, Least: 50},
		{Table: Bulk, What: "1 MiB, shm: memmove", Of: []string{"shm"}, To: []string{"memmove"}, Most: 1.3},
		{Table: Small, What: "soft, provider: by hand", Of: []string{"soft, provider"}, To: []string{"by hand"}, Most: 2},
		{Table: Small, What: "soft, typed: by hand", Of: []string{"soft"}, To: []string{"by hand"}, Most: 2},
		{Table: Small, What: "soft, typed: by hand, for several goroutines", Of: []string{"soft"}, To: []string{"by hand, with locks"}, Most: 2},
		{Table: Batches, What: "soft, typed, batch: by hand, for several goroutines", Of: []string{"soft"}, To: []string{"by hand, with locks"}, Most: 2},
		{Table: ReadOne, What: "read: slice of a window: a slice", Of: []string{"Slice"}, To: []string{"a slice"}, Most: 1},
		{Table: ReadOne, What: "read: PacketAll: a slice", Of: []string{"PacketAll"}, To: []string{"a slice"}, Most: 1.2},
		{Table: WriteTwo, What: "write: slice of a window: a slice", Of: []string{"Slice"}, To: []string{"a slice"}, Most: 1},
		{Table: WriteTwo, What: "write: PacketAll: a slice", Of: []string{"PacketAll"}, To: []string{"a slice"}, Most: 1.2},
		{Table: ReadFixed, What: "read, not castable: SensorAll: a slice", Of: []string{"SensorAll"}, To: []string{"a slice"}, Most: 1.2},
	}, deviceGoals()...)
}

// within bounds whatever a row does.
func within() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), 2*time.Minute, errors.New("the benchmark took longer than two minutes"))
}

// differ is the error of an answer that is not what was sent.
func differ(got, want uint64) error { return fmt.Errorf("got packet %d, want %d", got, want) }
