package rdma

import (
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// refTo is a reference as the message that answers an import has it.
func refTo(r barewire.Ref) ctl.Reference {
	return ctl.Reference{
		Addr: r.Addr, Count: r.Count, Size: r.Size, Key: r.Key,
		Hash: r.Hash, Epoch: r.Epoch, Rights: uint16(r.Rights), Version: r.Version,
	}
}

// refFrom is what such a message says. It comes from outside: see [checkRef].
func refFrom(w *ctl.Reference) barewire.Ref {
	return barewire.Ref{
		Addr: w.Addr, Count: w.Count, Size: w.Size, Key: w.Key,
		Hash: w.Hash, Epoch: w.Epoch, Rights: barewire.Rights(w.Rights), Version: w.Version,
	}
}

// known is what was imported: errors say which of its elements an operation was for.
type known struct {
	ref  barewire.Ref
	name string // of the offer
	typ  string
}

// maxKnown is how many imports errors can name.
const maxKnown = 4096

// know remembers an import.
func (k *control) know(ref barewire.Ref, name, typ string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) < maxKnown || k.known[RKey(ref.Key)].typ != "" {
		k.known[RKey(ref.Key)] = known{ref, name, typ}
	}
}

// place says what memory of the peer's an operation was for. Where that lies in the space of its key means
// nothing to a person, so what came by other ways than an import is called by its key only.
func (k *control) place(key RKey, addr uint64, bytes int, rights barewire.Rights) string {
	k.mu.Lock()
	x, ok := k.known[key]
	k.mu.Unlock()
	size, n := uint64(x.ref.Size), uint64(bytes)
	if !ok || addr < x.ref.Addr || n == 0 || addr+n > x.ref.Addr+x.ref.Count*size { // no overflow: see checkRef
		return fmt.Sprintf("key %#x (%s)", uint32(key), rightsText(rights))
	}
	off := addr - x.ref.Addr
	first, last := off/size, (off+n-1)/size
	text := fmt.Sprintf("elements %d to %d", first, last)
	if first == last {
		text = fmt.Sprintf("element %d", first)
	}
	if off%size != 0 || n%size != 0 {
		text = fmt.Sprintf("bytes %d to %d of %s", off%size, off%size+n-1, text)
	}
	return fmt.Sprintf("%s of %q (%s, %s)", text, x.name, x.typ, rightsText(rights))
}
