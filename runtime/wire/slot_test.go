package wire

import (
	"bytes"
	"errors"
	"testing"
)

func put(slot []byte, size int, msg string, err error) error {
	b, e := BeginSlot(slot, size)
	if e == nil {
		b, e = append(b, msg...), err
	}
	return EndSlot(slot, size, b, e)
}

func TestSlot(t *testing.T) {
	slot := bytes.Repeat([]byte{0xee}, 18)
	if err := put(slot, 16, "hello", nil); err != nil {
		t.Fatal(err)
	}
	want := "\x05\x00\x00\x00hello\x00\x00\x00\x00\x00\x00\x00\xee\xee"
	if string(slot) != want {
		t.Fatalf("got %q, want %q", slot, want)
	}
	m, err := SlotMessage(slot, 16)
	if err != nil || string(m) != "hello" || cap(m) != 5 {
		t.Errorf("the message is %q, %v", m, err)
	}
	if err := SlotTail(slot, 16); err != nil {
		t.Error(err)
	}
	slot[15] = 1
	if err := SlotTail(slot, 16); !errors.Is(err, ErrSlotTail) {
		t.Errorf("a byte behind the message: %v", err)
	}
}

func TestSlotRefuses(t *testing.T) {
	said := errors.New("said by the encoder")
	slot := bytes.Repeat([]byte{0xee}, 16)
	if err := put(slot, 16, "abc", said); err != said || !bytes.Equal(slot, make([]byte, 16)) {
		t.Errorf("after an error: %v, % x", err, slot)
	}
	if err := put(slot, 16, "thirteen bytes", nil); !errors.Is(err, ErrSlot) || !bytes.Equal(slot, make([]byte, 16)) {
		t.Errorf("too long: %v, % x", err, slot)
	}
	if err := put(slot[:15], 16, "", nil); !errors.Is(err, ErrSlot) {
		t.Errorf("a slot too small: %v", err)
	}
	slot[0] = 13
	if _, err := SlotMessage(slot, 16); !errors.Is(err, ErrSlot) {
		t.Errorf("a length too great: %v", err)
	}
	if _, err := SlotMessage(slot[:3], 16); !errors.Is(err, ErrSlot) {
		t.Errorf("a slot too small: %v", err)
	}
}

// TestEmptySlot: zeros are no message of any type that has slots.
func TestEmptySlot(t *testing.T) {
	slot := make([]byte, 16)
	for name, err := range map[string]error{
		"message": second(SlotMessage(slot, 16)),
		"tail":    SlotTail(slot, 16),
	} {
		if !errors.Is(err, ErrSlotEmpty) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := EndSlot(slot, 16, []byte{7}, nil); err != nil {
		t.Fatal(err)
	}
	if m, err := SlotMessage(slot, 16); err != nil || len(m) != 1 {
		t.Errorf("%v, %v", m, err)
	}
}

func second[A any](_ A, err error) error { return err }
