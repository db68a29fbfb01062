package main

import (
	"math/bits"
	"math/rand/v2"
	"runtime"

	"github.com/fidelityframework/barewire-gen/bench/regions"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// use is what a loop does with each element, over a slice and over a window.
//
// Loops of a few instructions take as long as they must, or up to twice that, by where their code lies in the processor's cache of instructions;
// and where it lies, other code decides. So the compiler makes each of these functions in several places, one for each of the types
// that spots has, and the fastest counts, of the slice's as of the window's.
type use struct {
	name    string
	slices  []func([]regions.Packet) uint64
	windows []func(regions.PacketWindow[barewire.Unregistered]) uint64
}

type window = regions.PacketWindow[barewire.Unregistered]

var uses = []use{
	{"read a field", []func([]regions.Packet) uint64{readSlice[uint8], readSlice[uint16], readSlice[uint32], readSlice[uint64]},
		[]func(window) uint64{readWindow[uint8], readWindow[uint16], readWindow[uint32], readWindow[uint64]}},
	{"write a field", []func([]regions.Packet) uint64{writeSlice[uint8], writeSlice[uint16], writeSlice[uint32], writeSlice[uint64]},
		[]func(window) uint64{writeWindow[uint8], writeWindow[uint16], writeWindow[uint32], writeWindow[uint64]}},
	{"read a field, by index,", []func([]regions.Packet) uint64{jumpSlice[uint8], jumpSlice[uint16], jumpSlice[uint32], jumpSlice[uint64]},
		[]func(window) uint64{jumpWindow[uint8], jumpWindow[uint16], jumpWindow[uint32], jumpWindow[uint64]}},
}

// spots are types of different sizes: a generic function is compiled once for each.
type spots interface {
	uint8 | uint16 | uint32 | uint64
}

//go:noinline
func readSlice[S spots](s []regions.Packet) (u uint64) {
	for i := range s {
		u += s[i].Seq
	}
	return u
}

//go:noinline
func readWindow[S spots](w window) (u uint64) {
	for _, v := range regions.PacketAll(w) {
		u += v.Seq()
	}
	return u
}

//go:noinline
func writeSlice[S spots](s []regions.Packet) uint64 {
	for i := range s {
		s[i].Seq = 1
	}
	return 0
}

//go:noinline
func writeWindow[S spots](w window) uint64 {
	for _, v := range regions.PacketAll(w) {
		v.SetSeq(1)
	}
	return 0
}

// orders are the indices of 2^k elements, mixed.
var orders = func() (all [13][]int) {
	for k := range all {
		all[k] = rand.New(rand.NewPCG(1, 2)).Perm(1 << k)
	}
	return all
}()

func order(n int) []int { return orders[bits.Len(uint(n))-1] }

//go:noinline
func jumpSlice[S spots](s []regions.Packet) (u uint64) {
	for _, i := range order(len(s)) {
		u += s[i].Seq
	}
	return u
}

//go:noinline
func jumpWindow[S spots](w window) (u uint64) {
	for _, i := range order(w.Len()) {
		u += regions.PacketAt(w, i).Seq()
	}
	return u
}

// over is a row of loops over something.
func over[W any](name string, what W, loops []func(W) uint64) *row {
	r := &row{name: name}
	for _, loop := range loops {
		r.ways = append(r.ways, &way{run: func(n int) error {
			var u uint64
			for range n {
				u += loop(what)
			}
			runtime.KeepAlive(u)
			return nil
		}})
	}
	return r
}
