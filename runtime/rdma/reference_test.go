package rdma

import (
	"bytes"
	"math/rand/v2"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// TestReference: a reference is one message of this project's own schema, in answers to
// imports and in #@ref fields alike.
func TestReference(t *testing.T) {
	if ctl.ReferenceBinarySize != barewire.RefSize {
		t.Fatalf("the message has %d bytes, a #@ref field %d", ctl.ReferenceBinarySize, barewire.RefSize)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		b := make([]byte, barewire.RefSize)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		var ref barewire.Ref
		var msg ctl.Reference
		if err := ref.Decode(b); err != nil {
			t.Fatal(err)
		}
		if err := msg.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if refTo(ref) != msg || refFrom(&msg) != ref {
			t.Fatalf("%x is %+v in a field and %+v in a message", b, ref, msg)
		}
		again, err := msg.AppendBinary(nil)
		if err != nil || !bytes.Equal(again, b) || !bytes.Equal(ref.Append(nil), b) {
			t.Fatalf("%x becomes %x and %x (%v)", b, again, ref.Append(nil), err)
		}
	}
}
