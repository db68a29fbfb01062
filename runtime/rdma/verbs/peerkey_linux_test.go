//go:build amd64 || arm64

package verbs

import (
	"testing"

	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestLateAnswer: an answer about a key that comes behind the word that it has ended, as it does when it was given before, does not make it good; one
// about a key that there was not does.
func TestLateAnswer(t *testing.T) {
	good := peerKey{addr: 64, len: 64, rights: iregion.Write}
	wr := &rdma.WorkRequest{Verb: rdma.VerbWrite, Key: 7, Epoch: 3, Addr: 64}
	var k keyring
	k.learn(7, 3, peerKey{why: "there is no such key, or no longer"})
	if v := k.check(wr, 8, iregion.Write); v == nil {
		t.Error("a key that there is not is good")
	}
	if k.learn(7, 3, good); k.check(wr, 8, iregion.Write) != nil {
		t.Error("a key that there is now is not good")
	}
	k.end(7, 3)
	if got := k.learn(7, 3, good); got.why == "" {
		t.Error("who asked hears that the key is good")
	}
	if v := k.check(wr, 8, iregion.Write); v == nil || v.Status != rdma.StatusRemoteKey {
		t.Errorf("a key that has ended is good: %v", v)
	}
	if k.learn(7, 4, good); k.check(&rdma.WorkRequest{Verb: rdma.VerbWrite, Key: 7, Epoch: 4, Addr: 64}, 8, iregion.Write) != nil {
		t.Error("the next key of that number is not good")
	}
}
