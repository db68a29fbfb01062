package barewire

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/fault"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// CopyOut copies elements from i on to dst, as many as its length says, which is a multiple of an element's size. Where the memory fails
// under the hand (it is poisoned, went offline, or is a file's that was cut short) the error is a [*RegionError]
// that is [ErrMemory] and names the region and the byte, or, where the system tells no more than the page, its first byte and how many it has
// (of device-dax 2 MiB, as a rule); access by a window would end the program. What dst has then is not known. The region can be closed.
//
//barewire:effect uses=r
func CopyOut[T Fixed[T], R HostAddressable, A CanExclusive](r *Region[T, R, A], i int, dst []byte) error {
	return r.bulk("copy out", i, len(dst), func(mem []byte) error { return fault.Read(dst, mem) })
}

// CopyIn copies src to the elements from i on: the reverse of [CopyOut].
//
//barewire:effect uses=r
func CopyIn[T Fixed[T], R HostAddressable, A CanExclusive](r *Region[T, R, A], i int, src []byte) error {
	return r.bulk("copy in", i, len(src), func(mem []byte) error { return fault.Write(mem, src) })
}

// bulk calls move with n bytes of the region, from the element i on.
func (r *Region[T, R, A]) bulk(op string, i, n int, move func(mem []byte) error) error {
	if err := r.hold(op); err != nil {
		return err
	}
	defer r.h.Drop()
	return bulk(r.h, op, i, n, move)
}

func bulk(h *region.Handle, op string, i, n int, move func(mem []byte) error) error {
	size := int(h.Type().Size)
	if n%size != 0 {
		return fmt.Errorf("barewire: %s: %s: %w: %d bytes are no number of elements of %d bytes", op, h.Name(), ErrRange, n, size)
	}
	if i < 0 || i > h.Count() || n/size > h.Count()-i {
		return region.Doing(op, h.Range(i, n/size))
	}
	if n == 0 {
		return nil
	}
	err := move(unsafe.Slice((*byte)(unsafe.Add(h.Base(), i*size)), n))
	var f *fault.Error
	if errors.As(err, &f) {
		at := "an element"
		if f.Off >= 0 {
			at = fmt.Sprintf("element %d, byte %d of it", i+f.Off/size, f.Off%size)
		}
		if f.Len > 1 {
			at += fmt.Sprintf(", or up to %d bytes behind it", f.Len-1)
		}
		return region.Doing(op, h.Failed(at, f))
	}
	return err
}
