package verbs

import (
	"encoding/binary"
	"errors"
	"iter"
	"sync/atomic"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
	"github.com/fidelityframework/barewire-gen/bench/regions"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// elements is how many a loop goes over: 16 KiB of packets, which stay in the nearest cache.
const elements = 256

// sum keeps the loops from being left out.
var sum atomic.Uint64

// The loops stand in functions that are not inlined, so that each is compiled for itself.

//go:noinline
func readSlice(s []regions.Packet) (u uint64) {
	for i := range s {
		u += s[i].Seq
	}
	return u
}

//go:noinline
func readAt[A barewire.Access](w barewire.Window[regions.Packet, A]) (u uint64) {
	for i := range w.Len() {
		u += regions.PacketAt(w, i).Seq()
	}
	return u
}

//go:noinline
func readAll[A barewire.Access](w barewire.Window[regions.Packet, A]) (u uint64) {
	for _, v := range regions.PacketAll(w) {
		u += v.Seq()
	}
	return u
}

//go:noinline
func writeSlice(s []regions.Packet, x uint64) {
	for i := range s {
		s[i].Seq = x
		s[i].Venue = uint32(x)
	}
}

//go:noinline
func writeAt[A barewire.Access](w barewire.Window[regions.Packet, A], x uint64) {
	for i := range w.Len() {
		v := regions.PacketAt(w, i)
		v.SetSeq(x)
		v.SetVenue(uint32(x))
	}
}

//go:noinline
func writeAll[A barewire.Access](w barewire.Window[regions.Packet, A], x uint64) {
	for _, v := range regions.PacketAll(w) {
		v.SetSeq(x)
		v.SetVenue(uint32(x))
	}
}

// each is the iterator over a plain slice that one would write by hand.
func each(s []regions.Packet) iter.Seq2[int, *regions.Packet] {
	return func(yield func(int, *regions.Packet) bool) {
		for i := range s {
			if !yield(i, &s[i]) {
				return
			}
		}
	}
}

//go:noinline
func readEach(s []regions.Packet) (u uint64) {
	for _, p := range each(s) {
		u += p.Seq
	}
	return u
}

//go:noinline
func writeEach(s []regions.Packet, x uint64) {
	for _, p := range each(s) {
		p.Seq = x
		p.Venue = uint32(x)
	}
}

//go:noinline
func readSensors(s []regions.Sensor) (u uint64) {
	for i := range s {
		u += s[i].Seq
	}
	return u
}

// sensorBytes are the bytes of elements as a region has them.
type sensorBytes [13]byte

//go:noinline
func readSensorBytes(s []sensorBytes) (u uint64) {
	for i := range s {
		u += binary.LittleEndian.Uint64(s[i][4:])
	}
	return u
}

//go:noinline
func readSensorsAt[A barewire.Access](w barewire.Window[regions.Sensor, A]) (u uint64) {
	for i := range w.Len() {
		u += regions.SensorAt(w, i).Seq()
	}
	return u
}

//go:noinline
func readSensorsAll[A barewire.Access](w barewire.Window[regions.Sensor, A]) (u uint64) {
	for _, v := range regions.SensorAll(w) {
		u += v.Seq()
	}
	return u
}

// open makes a region and a window on it.
func open[T barewire.Fixed[T]](l *Loop, p barewire.Place[T, barewire.CPU], n int) (w barewire.Window[T, barewire.Unregistered], err error) {
	r, err := barewire.New(p, n)
	if err != nil {
		return w, err
	}
	l.onClose(r.Close)
	if w, err = barewire.Open(r); err == nil {
		l.onClose(w.Close)
	}
	return w, err
}

// overWindow is a row whose loop goes over a window.
func overWindow[T barewire.Fixed[T]](p barewire.Place[T, barewire.CPU], loop func(barewire.Window[T, barewire.Unregistered])) func() (*Loop, error) {
	return opener(func(l *Loop) error {
		w, err := open(l, p, elements)
		if err != nil {
			return err
		}
		l.Run = func(n int) error {
			for range n {
				loop(w)
			}
			return nil
		}
		return nil
	})
}

// overSlice is a row whose loop goes over a plain slice.
func overSlice[T any](loop func([]T)) func() (*Loop, error) {
	return opener(func(l *Loop) error {
		s := aligned[T](elements)
		l.Run = func(n int) error {
			for range n {
				loop(s)
			}
			return nil
		}
		return nil
	})
}

// overCast is a row whose loop goes over the slice of a window.
func overCast(loop func([]regions.Packet)) func() (*Loop, error) {
	return opener(func(l *Loop) error {
		w, err := open(l, regions.PacketInCPU(), elements)
		if err != nil {
			return err
		}
		s, err := barewire.Slice(w)
		if err != nil {
			return err
		}
		l.Run = func(n int) error {
			for range n {
				loop(s)
			}
			return nil
		}
		return nil
	})
}

// aligned is a slice that begins with a cache line, as regions do.
func aligned[T any](n int) []T {
	for {
		s := make([]T, n+64)
		for i := range 64 {
			if uintptr(unsafe.Pointer(&s[i]))&63 == 0 {
				return s[i : i+n : i+n]
			}
		}
	}
}

// views are the rows of windows.
func views() []Row {
	type packet = barewire.Window[regions.Packet, barewire.Unregistered]
	type sensor = barewire.Window[regions.Sensor, barewire.Unregistered]
	list := []Row{
		{Table: ReadOne, Name: "a slice", Class: rows.Limit, Open: overSlice(func(s []regions.Packet) { sum.Store(readSlice(s)) })},
		{Table: ReadOne, Name: "Slice", Class: rows.Ours, Note: "of a window", Open: overCast(func(s []regions.Packet) { sum.Store(readSlice(s)) })},
		{Table: ReadOne, Name: "PacketAll", Class: rows.Variant, Note: "an iterator", Open: overWindow(regions.PacketInCPU(), func(w packet) { sum.Store(readAll(w)) })},
		{Table: ReadOne, Name: "PacketAt", Class: rows.Variant, Note: "by index, each checked", Open: overWindow(regions.PacketInCPU(), func(w packet) { sum.Store(readAt(w)) })},
		{Table: ReadOne, Name: "an iterator", Class: rows.Hand, Note: "iter.Seq2 over a slice", Open: overSlice(func(s []regions.Packet) { sum.Store(readEach(s)) })},
		{Table: WriteTwo, Name: "a slice", Class: rows.Limit, Open: overSlice(func(s []regions.Packet) { writeSlice(s, 7) })},
		{Table: WriteTwo, Name: "Slice", Class: rows.Ours, Note: "of a window", Open: overCast(func(s []regions.Packet) { writeSlice(s, 7) })},
		{Table: WriteTwo, Name: "PacketAll", Class: rows.Variant, Note: "an iterator", Open: overWindow(regions.PacketInCPU(), func(w packet) { writeAll(w, 7) })},
		{Table: WriteTwo, Name: "PacketAt", Class: rows.Variant, Note: "by index, each checked", Open: overWindow(regions.PacketInCPU(), func(w packet) { writeAt(w, 7) })},
		{Table: WriteTwo, Name: "an iterator", Class: rows.Hand, Note: "iter.Seq2 over a slice", Open: overSlice(func(s []regions.Packet) { writeEach(s, 7) })},
		{Table: ReadFixed, Name: "a slice", Class: rows.Limit, Note: "of Go structs, 24 bytes each; a region has 13", Open: overSlice(func(s []regions.Sensor) { sum.Store(readSensors(s)) })},
		{Table: ReadFixed, Name: "bytes", Class: rows.Hand, Note: "a slice of 13 bytes each, as in a region", Open: overSlice(func(s []sensorBytes) { sum.Store(readSensorBytes(s)) })},
		{Table: ReadFixed, Name: "SensorAll", Class: rows.Ours, Note: "an iterator", Open: overWindow(regions.SensorInCPU(), func(w sensor) { sum.Store(readSensorsAll(w)) })},
		{Table: ReadFixed, Name: "SensorAt", Class: rows.Variant, Note: "by index, each checked", Open: overWindow(regions.SensorInCPU(), func(w sensor) { sum.Store(readSensorsAt(w)) })},
	}
	for i := range list {
		list[i].Per, list[i].NoAlloc = elements, true
	}
	return append(append(list, copies()...), openings()...)
}

// byHandQuote is a seqlock as one would write it.
//
//go:noinline
func byHandQuote(q *regions.Quote, x *regions.Quote) bool {
	seq := (*atomic.Uint64)(unsafe.Pointer(&q.Seq))
	from, to := (*[8]uint64)(unsafe.Pointer(q)), (*[8]uint64)(unsafe.Pointer(x))
	before := seq.Load()
	if before&1 != 0 {
		return false
	}
	for i := range from {
		to[i] = atomic.LoadUint64(&from[i])
	}
	return seq.Load() == before
}

// copies are the rows of one whole element.
func copies() []Row {
	quote := func(take func(w barewire.Window[regions.Quote, barewire.Unregistered], s []regions.Quote, i int, x *regions.Quote) error) func() (*Loop, error) {
		return opener(func(l *Loop) error {
			w, err := open(l, regions.QuoteInCPU(), elements)
			if err != nil {
				return err
			}
			s, err := barewire.Slice(w)
			if err != nil {
				return err
			}
			var x regions.Quote
			l.Run = func(n int) error {
				for k := range n {
					if err := take(w, s, k&(elements-1), &x); err != nil {
						return err
					}
				}
				return nil
			}
			return nil
		})
	}
	type window = barewire.Window[regions.Quote, barewire.Unregistered]
	return []Row{
		{Table: Whole, Name: "an assignment", Class: rows.Limit, Note: "torn if somebody writes", Open: quote(func(_ window, s []regions.Quote, i int, x *regions.Quote) error {
			*x = s[i]
			return nil
		})},
		{Table: Whole, Name: "by hand", Class: rows.Hand, Note: "a sequence lock over words", Open: quote(func(_ window, s []regions.Quote, i int, x *regions.Quote) error {
			if !byHandQuote(&s[i], x) {
				return errLost
			}
			return nil
		})},
		{Table: Whole, Name: "QuoteSnapshot", Class: rows.Ours, NoAlloc: true, Note: "as it was at one time", Open: quote(func(w window, _ []regions.Quote, i int, x *regions.Quote) error {
			_, err := regions.QuoteSnapshot(w, i, x)
			return err
		})},
		{Table: Whole, Name: "QuotePublish", Class: rows.Variant, NoAlloc: true, Note: "writes it", Open: quote(func(w window, _ []regions.Quote, i int, x *regions.Quote) error {
			return regions.QuotePublish(w, i, x)
		})},
	}
}

// openings are the rows of opening.
func openings() []Row {
	return []Row{{Table: Opening, Name: "Open and Close", Class: rows.Ours, NoAlloc: true, Open: opener(func(l *Loop) error {
		r, err := barewire.New(regions.PacketInCPU(), 1)
		if err != nil {
			return err
		}
		l.onClose(r.Close)
		l.Run = func(n int) error {
			for range n {
				w, err := barewire.Open(r)
				if err := errors.Join(err, w.Close()); err != nil {
					return err
				}
			}
			return nil
		}
		return nil
	})}}
}
