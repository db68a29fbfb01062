// Package model holds the plain Go types every peer encodes and the data sets.
package model

import (
	"fmt"
	"math/rand"
)

// FixedSmall is shape A: 64 bytes on the BARE wire and 64 bytes in Go memory,
// with the same offsets (no padding), so an unsafe cast is exact on LE hosts.
type FixedSmall struct {
	ID    uint64    // 0
	TS    int64     // 8
	Price float64   // 16
	Qty   float64   // 24
	Flags uint32    // 32
	Venue uint16    // 36
	Side  uint8     // 38
	Live  bool      // 39
	Data  [16]byte  // 40
	Pair  [2]uint32 // 56
}

// FixedSmallSize is what a FixedSmall takes on the BARE wire, in bytes.
const FixedSmallSize = 64

// Tensor is shape B: an 88-byte header and a fixed array of 4096 float32.
type Tensor struct {
	Dtype   uint32        // 0
	Rank    uint32        // 4
	Dims    [8]uint64     // 8
	Offset  uint64        // 72
	Len     uint64        // 80
	Payload [4096]float32 // 88
}

// TensorSize is what a Tensor takes on the BARE wire, in bytes.
const TensorSize = 88 + 4096*4

// A is shape C, the go_serialization_benchmarks struct.
type A struct {
	Name     string
	BirthDay int64
	Phone    string
	Siblings int
	Spouse   bool
	Money    float64
}

// Choice is the 3-way union of shape D (uint | str | A), as go-bare wants it.
type Choice interface{ IsUnion() }

// The members of Choice.
type (
	ChoiceU uint64
	ChoiceS string
	ChoiceA A
)

// IsUnion makes the type a member of Choice.
func (ChoiceU) IsUnion() {}

// IsUnion makes the type a member of Choice.
func (ChoiceS) IsUnion() {}

// IsUnion makes the type a member of Choice.
func (ChoiceA) IsUnion() {}

// Large is shape D.
type Large struct {
	Records []A
	Meta    map[string]string
	Note    *string
	Choice  Choice
}

// N is how many distinct objects the loops rotate over (a power of two).
const N = 256

func randString(r *rand.Rand, n int) string {
	const cs = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = cs[r.Intn(len(cs))]
	}
	return string(b)
}

// GenA returns a random record of shape C.
func GenA(r *rand.Rand) A {
	return A{
		Name: randString(r, 16), BirthDay: 1e18 + r.Int63n(1e18), Phone: randString(r, 10),
		Siblings: r.Intn(5), Spouse: r.Intn(2) == 1, Money: r.Float64(),
	}
}

// GenSmall returns a random record of shape A.
func GenSmall(r *rand.Rand) FixedSmall {
	f := FixedSmall{
		ID: r.Uint64(), TS: r.Int63(), Price: r.Float64() * 1e5, Qty: r.Float64() * 1e3,
		Flags: r.Uint32(), Venue: uint16(r.Intn(65536)), Side: uint8(r.Intn(2)), Live: r.Intn(2) == 1,
		Pair: [2]uint32{r.Uint32(), r.Uint32()},
	}
	r.Read(f.Data[:])
	return f
}

// GenTensor returns a random tensor of shape B.
func GenTensor(r *rand.Rand) *Tensor {
	t := &Tensor{Dtype: 1, Rank: 2, Offset: 88, Len: 16384}
	t.Dims[0], t.Dims[1] = 64, 64
	for i := range t.Payload {
		t.Payload[i] = r.Float32()
	}
	return t
}

// GenLarge returns a random message of shape D with the union member that choice says (0, 1, or 2).
func GenLarge(r *rand.Rand, choice int) *Large {
	l := &Large{Meta: map[string]string{}}
	for i := 0; i < 1000; i++ {
		l.Records = append(l.Records, GenA(r))
	}
	for i := 0; i < 50; i++ {
		l.Meta[fmt.Sprintf("key-%02d-%s", i, randString(r, 6))] = randString(r, 20)
	}
	n := randString(r, 32)
	l.Note = &n
	switch choice {
	case 0:
		l.Choice = ChoiceU(r.Uint64())
	case 1:
		l.Choice = ChoiceS(randString(r, 24))
	default:
		l.Choice = ChoiceA(GenA(r))
	}
	return l
}

// The data sets, the same in every run.
var (
	Smalls  [N]FixedSmall
	As      [N]A
	Tensors [4]*Tensor
	TheL    *Large    // what most rows of shape D use
	Larges  [2]*Large // TheL and another, for rows where seeing the same one again would help
)

func init() {
	r := rand.New(rand.NewSource(42))
	for i := range Smalls {
		Smalls[i] = GenSmall(r)
		As[i] = GenA(r)
	}
	for i := range Tensors {
		Tensors[i] = GenTensor(r)
	}
	Larges = [2]*Large{GenLarge(r, 2), GenLarge(r, 2)}
	TheL = Larges[0]
}
