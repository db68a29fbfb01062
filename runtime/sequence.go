package barewire

import (
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// LoadWords copies len(dst) bytes from src, which is aligned to 8, word by word
// with atomic loads: whoever writes at the same time the same way tears no
// word. It is for generated code.
//
//barewire:generated
func LoadWords(dst []byte, src unsafe.Pointer) {
	at := 0 // no pointer points behind the memory, not even in passing
	for ; len(dst) >= 8; at += 8 {
		binary.NativeEndian.PutUint64(dst, atomic.LoadUint64((*uint64)(unsafe.Add(src, at))))
		dst = dst[8:]
	}
	if len(dst) >= 4 {
		binary.NativeEndian.PutUint32(dst, atomic.LoadUint32((*uint32)(unsafe.Add(src, at))))
		dst, at = dst[4:], at+4
	}
	if len(dst) > 0 {
		copy(dst, unsafe.Slice((*byte)(unsafe.Add(src, at)), len(dst)))
	}
}

// StoreWords copies src to dst, which is aligned to 8, word by word with atomic
// stores. It is for generated code.
//
//barewire:generated
func StoreWords(dst unsafe.Pointer, src []byte) {
	at := 0
	for ; len(src) >= 8; at += 8 {
		atomic.StoreUint64((*uint64)(unsafe.Add(dst, at)), binary.NativeEndian.Uint64(src))
		src = src[8:]
	}
	if len(src) >= 4 {
		atomic.StoreUint32((*uint32)(unsafe.Add(dst, at)), binary.NativeEndian.Uint32(src))
		src, at = src[4:], at+4
	}
	if len(src) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, at)), len(src)), src)
	}
}

// patience is how long is waited for a writer. One that the system has put to
// sleep takes milliseconds; longer is a writer that died.
const patience = time.Second

// again waits before another try, the longer the more there were, and reports
// whether there should be one. since is set by the first that sleeps.
func again(try int, since *time.Time) bool {
	switch {
	case try < 16:
	case try < 256:
		runtime.Gosched()
	case since.IsZero():
		*since = time.Now()
	case time.Since(*since) > patience:
		return false
	default:
		time.Sleep(50 * time.Microsecond)
	}
	return true
}

// Snapshot copies the element i to dst, which has its size, as it was at one time:
// its first word is a sequence, odd while it is written, which grows with each write. It
// gives the sequence, and [ErrUnstable] where each try met a writer for a second. It is for generated code.
//
//barewire:generated
//barewire:effect uses=w
func Snapshot[T Fixed[T], A Access](w Window[T, A], i int, dst []byte) (seq uint64, err error) {
	return snapshot(dst, Element(w, i, uintptr(i)*uintptr(len(dst))))
}

func snapshot(dst []byte, p unsafe.Pointer) (seq uint64, err error) {
	word := Atomic64{(*uint64)(p)}
	var since time.Time
	for try := 0; again(try, &since); try++ {
		seq = word.Load()
		if seq&1 != 0 {
			continue
		}
		LoadWords(dst, p)
		if word.Load() == seq {
			return seq, nil
		}
	}
	return 0, ErrUnstable
}

// Publish copies src, which has its size, to the element i but for its first word,
// the sequence: it is made odd before and even after, whatever src has there. Of several writers
// one waits for the other; [ErrUnstable] where that took a second. It is for generated code.
//
//barewire:generated
//barewire:effect uses=w
func Publish[T Fixed[T], A Access](w Window[T, A], i int, src []byte) error {
	return publish(Element(w, i, uintptr(i)*uintptr(len(src))), src)
}

func publish(p unsafe.Pointer, src []byte) error {
	word := Atomic64{(*uint64)(p)}
	var since time.Time
	for try := 0; again(try, &since); try++ {
		seq := word.Load()
		if seq&1 == 0 && word.CompareAndSwap(seq, seq+1) {
			StoreWords(unsafe.Add(p, 8), src[8:])
			word.Store(seq + 2)
			return nil
		}
	}
	return ErrUnstable
}
