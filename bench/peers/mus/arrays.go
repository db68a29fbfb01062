package mus

import (
	mus "github.com/mus-format/mus-go"
	"github.com/mus-format/mus-go/unsafe"
)

// copy16 is a hand-tuned fixed array serializer (what a mus user writes when
// the per-element array serializer is too slow).
type copy16 struct{}

func (copy16) Marshal(v [16]byte, bs []byte) int { return copy(bs, v[:]) }
func (copy16) Unmarshal(bs []byte) (v [16]byte, n int, err error) {
	if len(bs) < 16 {
		return v, 0, mus.ErrTooSmallByteSlice
	}
	return [16]byte(bs), 16, nil
}
func (copy16) Size([16]byte) int { return 16 }
func (copy16) Skip(bs []byte) (int, error) {
	if len(bs) < 16 {
		return 0, mus.ErrTooSmallByteSlice
	}
	return 16, nil
}

type pair2 struct{}

func (pair2) Marshal(v [2]uint32, bs []byte) int {
	n := unsafe.Uint32.Marshal(v[0], bs)
	return n + unsafe.Uint32.Marshal(v[1], bs[n:])
}
func (pair2) Unmarshal(bs []byte) (v [2]uint32, n int, err error) {
	var n1 int
	if v[0], n, err = unsafe.Uint32.Unmarshal(bs); err != nil {
		return
	}
	v[1], n1, err = unsafe.Uint32.Unmarshal(bs[n:])
	return v, n + n1, err
}
func (pair2) Size([2]uint32) int { return 8 }
func (pair2) Skip(bs []byte) (int, error) {
	if len(bs) < 8 {
		return 0, mus.ErrTooSmallByteSlice
	}
	return 8, nil
}

var data16U copy16
var pairU pair2
