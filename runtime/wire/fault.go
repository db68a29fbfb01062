package wire

import "unsafe"

// Fault is an error of a fixed view: where it points says what is wrong. So where it is
// found costs neither memory nor a call, which would keep a loop around it from
// using the registers. Generated code gives it a type for each type of a schema, whose
// Error and Unwrap ask Type.Fault. A Fault holds nothing and must not be read.
type Fault byte

// faults is what Faults point into. It is never touched, so it takes addresses and no
// memory. Behind a variable, it has no address that a loop would keep at hand.
var faults = new([1 << 16]Fault)

// CutAt is the fault of a message of which n bytes are there. It is for generated code.
func CutAt(n int) *Fault { return &faults[uint16(n)] }

// BadByte is the fault of a message of size bytes whose byte at off is c. It is for
// generated code, which sees to it that size+256*off+255 < 1<<16.
func BadByte(size, off int, c byte) *Fault { return &faults[uint16(size+256*off+int(c))] }

// Fault returns the *Error that a decoder gives for a message of t that has the fault
// and is right else. The size of t must be fixed, and no union be in it, whose member
// would be in the error's path.
func (t *Type) Fault(f *Fault) error {
	n := t.parse()
	if n == nil {
		return t.Refuse(nil)
	}
	b := n.sample(nil)
	code := uintptr(unsafe.Pointer(f)) - uintptr(unsafe.Pointer(faults))
	size := uintptr(len(b))
	switch {
	case code < size:
		b = b[:code]
	case code < uintptr(len(faults)) && (code-size)/256 < size:
		b[(code-size)/256] = byte(code - size)
	}
	return t.Refuse(b)
}

// sample appends some value of n, which must be of fixed size and without a union.
func (n *node) sample(b []byte) []byte {
	switch n.kind {
	case kEnum:
		if n.size == 0 {
			return AppendUint(b, n.ranges[0])
		}
		for i := range n.size {
			b = append(b, byte(n.ranges[0]>>(8*i)))
		}
		return b
	case kFixedList:
		if n.elem.kind == kFixed {
			break
		}
		for range n.size {
			b = n.elem.sample(b)
		}
		return b
	case kStruct:
		for i := range n.parts {
			b = n.parts[i].sample(b)
		}
		return b
	}
	return append(b, make([]byte, n.least)...) // zeros are a number, a bool, data
}
