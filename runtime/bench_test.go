package barewire_test

import (
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
)

// Loops over 1024 elements by each way of access; the loops stand in functions of
// their own, as b.Loop keeps alive what is in its body. What counts is the time
// against BenchmarkPlainSlice.

const elements = 1024

//go:noinline
func sumPlain(ts []sample.Tick) (s float64) {
	for i := range ts {
		s += ts[i].Price
	}
	return s
}

//go:noinline
func sumAt[A barewire.Access](w barewire.Window[sample.Tick, A]) (s float64) {
	for i := range w.Len() {
		s += sample.TickAt(w, i).Price()
	}
	return s
}

//go:noinline
func sumAll[A barewire.Access](w barewire.Window[sample.Tick, A]) (s float64) {
	for _, v := range sample.TickAll(w) {
		s += v.Price()
	}
	return s
}

//go:noinline
func sumSensors[A barewire.Access](w barewire.Window[sample.Sensor, A]) (s float64) {
	for _, v := range sample.SensorAll(w) {
		s += float64(v.Temp())
	}
	return s
}

//go:noinline
func sumSensorSlice(ts []sample.Sensor) (s float64) {
	for i := range ts {
		s += float64(ts[i].Temp)
	}
	return s
}

func BenchmarkPlainSlice(b *testing.B) {
	ts := make([]sample.Tick, elements)
	for b.Loop() {
		sumPlain(ts)
	}
}

func BenchmarkWindowSlice(b *testing.B) {
	w := open(b, newTicks(b, elements))
	ts, err := barewire.Slice(w)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		sumPlain(ts)
	}
}

func BenchmarkWindowAt(b *testing.B) {
	w := open(b, newTicks(b, elements))
	for b.Loop() {
		sumAt(w)
	}
}

func BenchmarkWindowAll(b *testing.B) {
	w := open(b, newTicks(b, elements))
	for b.Loop() {
		sumAll(w)
	}
}

func BenchmarkSensorsPlainSlice(b *testing.B) {
	ts := make([]sample.Sensor, elements)
	for b.Loop() {
		sumSensorSlice(ts)
	}
}

func BenchmarkSensorsWindowAll(b *testing.B) {
	r, err := barewire.New(sample.SensorInCPU(), elements)
	if err != nil {
		b.Fatal(err)
	}
	w := open(b, r)
	for b.Loop() {
		sumSensors(w)
	}
}

// BenchmarkAgainstSlice takes turns, and gives the quickest turn of each way as a
// multiple of the plain slice's: other programs on the machine disturb that least.
func BenchmarkAgainstSlice(b *testing.B) {
	w := open(b, newTicks(b, elements))
	ts, err := barewire.Slice(w)
	if err != nil {
		b.Fatal(err)
	}
	r, err := barewire.New(sample.SensorInCPU(), elements)
	if err != nil {
		b.Fatal(err)
	}
	sensors, plain, plainSensors := open(b, r), make([]sample.Tick, elements), make([]sample.Sensor, elements)
	ways := []struct {
		name string
		base int // the way that it is a multiple of
		run  func()
	}{
		{"", 0, func() { sumPlain(plain) }},
		{"", 1, func() { sumSensorSlice(plainSensors) }},
		{"slice/slice", 0, func() { sumPlain(ts) }},
		{"at/slice", 0, func() { sumAt(w) }},
		{"all/slice", 0, func() { sumAll(w) }},
		{"all-unaligned/slice", 1, func() { sumSensors(sensors) }},
	}
	best := make([]time.Duration, len(ways))
	for b.Loop() {
		for i, way := range ways {
			start := time.Now()
			for range 8 {
				way.run()
			}
			if d := time.Since(start); best[i] == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	for i, way := range ways {
		if way.name != "" {
			b.ReportMetric(float64(best[i])/float64(best[way.base]), way.name)
		}
	}
}

func BenchmarkOpenClose(b *testing.B) {
	r := newTicks(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		w, err := barewire.Open(r)
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	w := open(b, newTicks(b, 1))
	var x sample.Tick
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sample.TickSnapshot(w, 0, &x); err != nil {
			b.Fatal(err)
		}
	}
}

// open is a window that is closed when the test ends, before its region is.
func open[T barewire.Fixed[T], R barewire.HostAddressable, A barewire.Access](t testing.TB, r *barewire.Region[T, R, A]) barewire.Window[T, A] {
	t.Helper()
	w, err := barewire.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}
