package hand

import (
	"math"
	"slices"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/bench/model"
)

const (
	headSize    = 88
	payloadSize = model.TensorSize - headSize
)

func putHeader(p *[model.TensorSize]byte, v *model.Tensor) {
	le.PutUint32(p[0:], v.Dtype)
	le.PutUint32(p[4:], v.Rank)
	for i := range v.Dims {
		le.PutUint64(p[8+8*i:], v.Dims[i])
	}
	le.PutUint64(p[72:], v.Offset)
	le.PutUint64(p[80:], v.Len)
}

func getHeader(p *[model.TensorSize]byte, v *model.Tensor) {
	v.Dtype = le.Uint32(p[0:])
	v.Rank = le.Uint32(p[4:])
	for i := range v.Dims {
		v.Dims[i] = le.Uint64(p[8+8*i:])
	}
	v.Offset = le.Uint64(p[72:])
	v.Len = le.Uint64(p[80:])
}

// AppendTensor grows the buffer once and copies the numbers in one go, which
// a little-endian machine may.
func AppendTensor(b []byte, v *model.Tensor) []byte {
	n := len(b)
	b = slices.Grow(b, model.TensorSize)[:n+model.TensorSize]
	p := (*[model.TensorSize]byte)(b[n:])
	putHeader(p, v)
	copy(p[headSize:], unsafe.Slice((*byte)(unsafe.Pointer(&v.Payload)), payloadSize))
	return b
}

// PutTensorLoop writes number by number, which works on every machine.
func PutTensorLoop(b []byte, v *model.Tensor) {
	p := (*[model.TensorSize]byte)(b)
	putHeader(p, v)
	q := p[headSize:]
	for i := range v.Payload {
		le.PutUint32(q[4*i:4*i+4], math.Float32bits(v.Payload[i]))
	}
}

// AppendTensorEach appends number by number.
func AppendTensorEach(b []byte, v *model.Tensor) []byte {
	b = le.AppendUint32(b, v.Dtype)
	b = le.AppendUint32(b, v.Rank)
	for _, d := range v.Dims {
		b = le.AppendUint64(b, d)
	}
	b = le.AppendUint64(b, v.Offset)
	b = le.AppendUint64(b, v.Len)
	for i := range v.Payload {
		b = le.AppendUint32(b, math.Float32bits(v.Payload[i]))
	}
	return b
}

// DecodeTensor copies the numbers in one go.
func DecodeTensor(b []byte, v *model.Tensor) error {
	if err := ValidateTensor(b); err != nil {
		return err
	}
	p := (*[model.TensorSize]byte)(b)
	getHeader(p, v)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&v.Payload)), payloadSize), p[headSize:])
	return nil
}

// DecodeTensorLoop reads number by number.
func DecodeTensorLoop(b []byte, v *model.Tensor) error {
	if err := ValidateTensor(b); err != nil {
		return err
	}
	p := (*[model.TensorSize]byte)(b)
	getHeader(p, v)
	q := p[headSize:]
	for i := range v.Payload {
		v.Payload[i] = math.Float32frombits(le.Uint32(q[4*i : 4*i+4]))
	}
	return nil
}

// ValidateTensor checks all that can be wrong: the length.
func ValidateTensor(b []byte) error {
	if len(b) != model.TensorSize {
		if len(b) < model.TensorSize {
			return ErrShort
		}
		return ErrTrailing
	}
	return nil
}

// TensorView reads fields out of a message's bytes.
type TensorView struct{ p *[model.TensorSize]byte }

// ViewTensor makes a view of the first bytes of b.
func ViewTensor(b []byte) (TensorView, error) {
	if len(b) < model.TensorSize {
		return TensorView{}, ErrShort
	}
	return TensorView{(*[model.TensorSize]byte)(b)}, nil
}

// Dim reads one of the eight dimensions; i is checked as a slice's index is.
func (t TensorView) Dim(i int) uint64 {
	_ = [8]struct{}{}[i]
	return le.Uint64(t.p[8+8*i:])
}

// Len reads the field.
func (t TensorView) Len() uint64 { return le.Uint64(t.p[80:]) }

// At reads one of the numbers; i is checked as a slice's index is.
func (t TensorView) At(i int) float32 {
	_ = [4096]struct{}{}[i]
	return math.Float32frombits(le.Uint32(t.p[headSize+4*i:]))
}

// CastTensor is the limit: the bytes as a Go struct, right only on a
// little-endian machine.
func CastTensor(b []byte) *model.Tensor {
	_ = b[model.TensorSize-1]
	return (*model.Tensor)(unsafe.Pointer(unsafe.SliceData(b)))
}

// BytesOfTensor returns the struct's memory.
func BytesOfTensor(v *model.Tensor) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), model.TensorSize)
}
