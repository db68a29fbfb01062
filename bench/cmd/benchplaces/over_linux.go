package main

import (
	"math"

	"github.com/fidelityframework/barewire-gen/bench/internal/cputime"
	"github.com/fidelityframework/barewire-gen/bench/regions"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// Loops of a few instructions take as long as they must, or twice that, by whether they lie in one line of the processor's cache of
// instructions or in two; and where they lie, other code decides. So each is here twice, 32 bytes apart in such a line, and the
// faster one counts, of the slice's as of the windows'.

//go:noinline
func overSlice(s []regions.Packet) (u uint64) {
	for i := range s {
		u += s[i].Seq
	}
	return u
}

//go:noinline
func overWindow(w regions.PacketWindow[barewire.Unregistered]) (u uint64) {
	for _, v := range regions.PacketAll(w) {
		u += v.Seq()
	}
	return u
}

// apart takes 32 bytes: functions begin at multiples of that.
//
//go:noinline
func apart() {}

//go:noinline
func overSliceToo(s []regions.Packet) (u uint64) {
	for i := range s {
		u += s[i].Seq
	}
	return u
}

//go:noinline
func overWindowToo(w regions.PacketWindow[barewire.Unregistered]) (u uint64) {
	for _, v := range regions.PacketAll(w) {
		u += v.Seq()
	}
	return u
}

// fastest tries functions that do the same, and gives the one that took the least time.
func fastest(all ...func(int) error) (best func(int) error) {
	apart() // so that it is there
	least := uint64(math.MaxUint64)
	for _, run := range all {
		for range 20 {
			start := cputime.Self()
			if run(2000) != nil {
				break
			}
			if took := uint64(cputime.Self() - start); took < least {
				least, best = took, run
			}
		}
	}
	return best
}
