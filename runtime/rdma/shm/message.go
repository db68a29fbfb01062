package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// A message on the control socket is one packet: a byte that says what it is,
// then fields of fixed size, little-endian, then at most one text or blob that takes
// the rest. Both ends are this package, of perhaps different versions: version
// is in the first message of each side.

// kind is what a message is.
type kind uint8

const (
	kindHello   kind = iota + 1 // dialer to listener: outbox and bell; two descriptors
	kindRefuse                  // listener: no, and why
	kindBell                    // look again: what you were waiting for to send has come
	kindAsk                     // let me have the memory of a key
	kindGrant                   // here it is; one descriptor
	kindDeny                    // no, and why
	kindRevoke                  // a key that was granted is no longer good: unmap it
	kindAbort                   // this side has failed, and why
	kindBye                     // this side closes
	kindWelcome                 // listener to dialer, whom it takes: outbox; one descriptor
)

const (
	magic       = 0x6d687362 // "bshm"
	version     = 2
	maxHello    = 512  // bytes that the layer above may say in a hello
	maxText     = 512  // bytes of a reason
	maxMessage  = 1024 // bytes of a message on the socket
	maxPassed   = 2    // descriptors with a message
	lenKey      = 1 + 4 + 4 + 4
	lenGrant    = 1 + 4 + 4 + 8 + 2 + 8 + 8 + 8
	lenGreeting = 1 + 4 + 2 + 4*4
)

// message is any of them: each uses some of the fields.
type message struct {
	kind   kind
	layout layout // Hello, Welcome
	body   []byte // Hello, Welcome: what the layer above says; Refuse, Deny, Abort: a text
	id     uint32 // Ask, Grant, Deny: which question
	key    uint32 // Ask
	epoch  uint32 // Ask
	status rdma.Status
	slot   uint32 // Grant, Revoke: where in the outbox the key's word is
	nonce  uint64 // Grant, Revoke: what the word is while the key is good
	rights uint16 // Grant
	addr   uint64 // Grant: where the memory begins in the key's space
	length uint64 // Grant: bytes
	offset uint64 // Grant: where it begins in the file
}

// passes is how many descriptors go with a message.
func (k kind) passes() int {
	switch k {
	case kindHello:
		return 2
	case kindWelcome, kindGrant:
		return 1
	}
	return 0
}

var order = binary.LittleEndian

// append adds the message in its wire form.
func (m *message) append(b []byte) []byte {
	b = append(b, byte(m.kind))
	switch m.kind {
	case kindHello, kindWelcome:
		b = order.AppendUint32(b, magic)
		b = order.AppendUint16(b, version)
		b = order.AppendUint32(b, m.layout.entries)
		b = order.AppendUint32(b, m.layout.arena)
		b = order.AppendUint32(b, m.layout.slots)
		b = order.AppendUint32(b, m.layout.longest)
		b = append(b, m.body...)
	case kindAsk:
		b = order.AppendUint32(b, m.id)
		b = order.AppendUint32(b, m.key)
		b = order.AppendUint32(b, m.epoch)
	case kindGrant:
		b = order.AppendUint32(b, m.id)
		b = order.AppendUint32(b, m.slot)
		b = order.AppendUint64(b, m.nonce)
		b = order.AppendUint16(b, m.rights)
		b = order.AppendUint64(b, m.addr)
		b = order.AppendUint64(b, m.length)
		b = order.AppendUint64(b, m.offset)
	case kindDeny:
		b = order.AppendUint32(b, m.id)
		b = append(b, byte(m.status))
		b = append(b, cut(m.body, maxText)...)
	case kindRevoke:
		b = order.AppendUint32(b, m.slot)
		b = order.AppendUint64(b, m.nonce)
	case kindAbort:
		b = append(b, byte(m.status))
		b = append(b, cut(m.body, maxText)...)
	case kindRefuse:
		b = append(b, cut(m.body, maxText)...)
	}
	return b
}

// errMessage is what is wrong with a message of a peer that does not keep to
// the protocol.
var errMessage = errors.New("shm: the peer's message is malformed")

// parse reads a message; body refers to b. Whatever the peer sends, it fails or returns a
// message whose texts are bounded; whether the values make sense is for
// the caller to see.
func parse(b []byte) (m message, err error) {
	if len(b) == 0 || len(b) > maxMessage {
		return m, fmt.Errorf("%w: %d bytes", errMessage, len(b))
	}
	m.kind = kind(b[0])
	want, open := m.kind.size()
	if want == 0 {
		return message{}, fmt.Errorf("%w: kind %d is unknown", errMessage, b[0])
	}
	if len(b) < want || len(b) > want && !open {
		return message{}, fmt.Errorf("%w: kind %d with %d bytes instead of %d", errMessage, b[0], len(b), want)
	}
	body := b[want:]
	b = b[1:want]
	switch m.kind {
	case kindHello, kindWelcome:
		if g := order.Uint32(b); g != magic {
			return message{}, fmt.Errorf("%w: it begins with %#x, so this is no shm peer", errMessage, g)
		}
		if v := order.Uint16(b[4:]); v != version {
			return message{}, fmt.Errorf("shm: the peer speaks version %d, this is %d", v, version)
		}
		m.layout = layout{order.Uint32(b[6:]), order.Uint32(b[10:]), order.Uint32(b[14:]), order.Uint32(b[18:])}
		if len(body) > maxHello {
			return message{}, fmt.Errorf("%w: a hello of %d bytes, at most %d are taken", errMessage, len(body), maxHello)
		}
	case kindAsk:
		m.id, m.key, m.epoch = order.Uint32(b), order.Uint32(b[4:]), order.Uint32(b[8:])
	case kindGrant:
		m.id, m.slot, m.nonce, m.rights = order.Uint32(b), order.Uint32(b[4:]), order.Uint64(b[8:]), order.Uint16(b[16:])
		m.addr, m.length, m.offset = order.Uint64(b[18:]), order.Uint64(b[26:]), order.Uint64(b[34:])
	case kindDeny:
		m.id, m.status = order.Uint32(b), rdma.Status(b[4])
	case kindRevoke:
		m.slot, m.nonce = order.Uint32(b), order.Uint64(b[4:])
	case kindAbort:
		m.status = rdma.Status(b[0])
	}
	m.body = cut(body, maxText)
	if m.kind == kindHello || m.kind == kindWelcome {
		m.body = body
	}
	return m, nil
}

// size is how long a message of the kind is without its body, and whether it
// may have one. It is 0 for kinds that do not exist.
func (k kind) size() (n int, open bool) {
	switch k {
	case kindHello, kindWelcome:
		return lenGreeting, true
	case kindRefuse:
		return 1, true
	case kindBell, kindBye:
		return 1, false
	case kindAsk:
		return lenKey, false
	case kindGrant:
		return lenGrant, false
	case kindDeny:
		return 1 + 4 + 1, true
	case kindRevoke:
		return 1 + 4 + 8, false
	case kindAbort:
		return 2, true
	}
	return 0, false
}

// cut is b, or its first n bytes.
func cut(b []byte, n int) []byte { return b[:min(n, len(b))] }

// said is a text of the peer's as it may stand in an error: in one line, short, and
// without what a terminal would obey.
func said(b []byte) string {
	const longest = 300
	text := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(cut(b, longest)))
	if len(b) > longest {
		text += "…"
	}
	return text
}
