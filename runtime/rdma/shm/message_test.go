package shm

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// samples are one message of each kind.
func samples() []message {
	return []message{
		{kind: kindHello, layout: layout{128, 1 << 20, 4096, 4096}, body: []byte("hello")},
		{kind: kindRefuse, body: []byte("no strangers")},
		{kind: kindBell},
		{kind: kindAsk, id: 1, key: 2, epoch: 3},
		{kind: kindGrant, id: 1, slot: 2, nonce: 3, rights: 4, addr: 5, length: 6, offset: 7},
		{kind: kindDeny, id: 1, status: rdma.StatusRemoteKey, body: []byte("no such key")},
		{kind: kindRevoke, slot: 1, nonce: 2},
		{kind: kindAbort, status: rdma.StatusTimeout, body: []byte("late")},
		{kind: kindBye},
		{kind: kindWelcome, layout: layout{128, 1 << 20, 4096, 4096}, body: []byte("hello")},
	}
}

func TestMessages(t *testing.T) {
	for _, m := range samples() {
		b := m.append(nil)
		got, err := parse(b)
		if err != nil || !bytes.Equal(got.append(nil), b) {
			t.Errorf("kind %d: %+v, %v", m.kind, got, err)
		}
		for n := range b {
			if _, err := parse(b[:n]); err == nil && n < len(b)-len(m.body) {
				t.Errorf("kind %d: %d of %d bytes were taken", m.kind, n, len(b))
			}
		}
	}
	long := message{kind: kindAbort, body: bytes.Repeat([]byte("x"), 5000)}
	if b := long.append(nil); len(b) > maxMessage {
		t.Errorf("a long reason makes a message of %d bytes", len(b))
	}
	other := samples()[0].append(nil)
	other[5]++
	if _, err := parse(other); err == nil || errors.Is(err, errMessage) || !strings.Contains(err.Error(), "version") {
		t.Errorf("another version: %v", err)
	}
}

// FuzzParse wants an error or a message that is written as it was read, and never more than bounds allow.
func FuzzParse(f *testing.F) {
	for _, m := range samples() {
		f.Add(m.append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parse(b)
		if err != nil {
			if m.kind != 0 {
				t.Errorf("an error, and a message: %+v", m)
			}
			return
		}
		if len(m.body) > maxText {
			t.Errorf("a text of %d bytes", len(m.body))
		}
		if again := m.append(nil); !bytes.Equal(again, b) && len(b) <= maxText {
			t.Errorf("read % x, written % x", b, again)
		}
	})
}
