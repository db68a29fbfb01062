package schemagen

import "pgregory.net/rapid"

// Mutants generates damaged copies of a message: bits flipped, bytes cut,
// added, repeated or replaced by what decoders trip over. Some stay valid.
func Mutants(msg []byte) *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		b := append([]byte{}, msg...)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			b = mutate(t, b)
		}
		return b
	})
}

// nasty are bytes put into a message: long and overlong varints, huge counts,
// bytes that are no bool, no UTF-8 and no small tag.
var nasty = [][]byte{
	{0x00}, {0x01}, {0x02}, {0x7f}, {0xff}, {0x80, 0x00}, {0x81, 0x00}, {0x80, 0x01},
	{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
	{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},
	{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00},
	{0xff, 0xff, 0xff, 0xff, 0x0f}, {0xff, 0xff, 0xff, 0xff, 0x07}, {0x80, 0x80, 0x80, 0x80, 0x08},
	{0xc0, 0x80}, {0xed, 0xa0, 0x80}, {0xf4, 0x90, 0x80, 0x80}, {0xe2, 0x82},
}

func mutate(t *rapid.T, b []byte) []byte {
	at := 0
	if len(b) > 0 {
		at = rapid.IntRange(0, len(b)-1).Draw(t, "at")
	}
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0 && len(b) > 0:
		b[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
	case kind == 1 && len(b) > 0:
		b = b[:at]
	case kind == 2:
		with := rapid.SampledFrom(nasty).Draw(t, "nasty")
		b = append(b[:at:at], append(append([]byte{}, with...), b[at:]...)...)
	case kind == 3 && len(b) > 0:
		with := rapid.SampledFrom(nasty).Draw(t, "nasty")
		b = append(b[:at:at], append(append([]byte{}, with...), b[min(len(b), at+1):]...)...)
	case kind == 4 && len(b) > 0:
		b = append(b[:at:at], b[at+1:]...)
	default:
		b = append(b[:at:at], append(append([]byte{}, b[at:]...), b[at:]...)...)
	}
	return b
}
