package hand

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/bench/model"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// AppendA checks that strings are UTF-8 and appends field by field.
func AppendA(b []byte, v *model.A) ([]byte, error) {
	if !wire.ValidString(v.Name) || !wire.ValidString(v.Phone) {
		return b, ErrUTF8
	}
	return AppendAPlain(b, v), nil
}

// AppendAStd is AppendA with the standard library's check.
func AppendAStd(b []byte, v *model.A) ([]byte, error) {
	if !utf8.ValidString(v.Name) || !utf8.ValidString(v.Phone) {
		return b, ErrUTF8
	}
	return AppendAPlain(b, v), nil
}

// AppendAPlain appends field by field.
func AppendAPlain(b []byte, v *model.A) []byte {
	b = binary.AppendUvarint(b, uint64(len(v.Name)))
	b = append(b, v.Name...)
	b = le.AppendUint64(b, uint64(v.BirthDay))
	b = binary.AppendUvarint(b, uint64(len(v.Phone)))
	b = append(b, v.Phone...)
	b = binary.AppendUvarint(b, zigzag(int64(v.Siblings)))
	b = append(b, b2u(v.Spouse))
	return le.AppendUint64(b, math.Float64bits(v.Money))
}

// PutAPlain writes to b, which is large enough, and returns the size.
func PutAPlain(b []byte, v *model.A) int {
	n := putUint(b, uint64(len(v.Name)))
	n += copy(b[n:], v.Name)
	le.PutUint64(b[n:], uint64(v.BirthDay))
	n += 8
	n += putUint(b[n:], uint64(len(v.Phone)))
	n += copy(b[n:], v.Phone)
	n += putUint(b[n:], zigzag(int64(v.Siblings)))
	t := b[n : n+9]
	t[0] = b2u(v.Spouse)
	le.PutUint64(t[1:], math.Float64bits(v.Money))
	return n + 9
}

// BoundAPlain reserves the most that the message can take, writes, and trims.
func BoundAPlain(b []byte, v *model.A) []byte {
	n := len(b)
	b = slices.Grow(b, 17+3*binary.MaxVarintLen64+len(v.Name)+len(v.Phone))
	return b[:n+PutAPlain(b[n:cap(b)], v)]
}

// SizeA returns the size of the message.
func SizeA(v *model.A) int {
	return 17 + sizeStr(v.Name) + sizeStr(v.Phone) + sizeUint(zigzag(int64(v.Siblings)))
}

func sizeStr(s string) int { return sizeUint(uint64(len(s))) + len(s) }

func sizeUint(x uint64) int {
	n := 1
	for ; x >= 0x80; x >>= 7 {
		n++
	}
	return n
}

// SizePutAPlain takes the exact size first.
func SizePutAPlain(b []byte, v *model.A) []byte {
	n := len(b)
	size := SizeA(v)
	b = slices.Grow(b, size)[:n+size]
	PutAPlain(b[n:], v)
	return b
}

// readA reads an A at n and returns its end. One check covers each run of
// fixed size together with the length behind it; what is rare is in readASlow.
func readA(b []byte, n int, v *model.A, aliasing bool, check checks) (int, error) {
	c := b[n:]
	if len(c) < 1 || c[0] >= 0x80 {
		return readASlow(b, n, v, aliasing, check)
	}
	i := 1 + int(c[0])
	if len(c) < i+9 {
		return 0, ErrShort
	}
	name, t := c[1:i], c[i:i+9]
	if t[8] >= 0x80 {
		return readASlow(b, n, v, aliasing, check)
	}
	j := i + 9 + int(t[8])
	if len(c) < j+10 {
		return 0, ErrShort
	}
	phone, u := c[i+9:j], c[j:j+10]
	if u[0] >= 0x80 {
		return readASlow(b, n, v, aliasing, check)
	}
	if u[1] > 1 {
		return 0, ErrBool
	}
	if !check.utf8(name) || !check.utf8(phone) {
		return 0, ErrUTF8
	}
	v.BirthDay = int64(le.Uint64(t))
	v.Siblings = int(unzigzag(uint64(u[0])))
	v.Spouse = u[1] != 0
	v.Money = math.Float64frombits(le.Uint64(u[2:]))
	if aliasing {
		v.Name, v.Phone = alias(name), alias(phone)
	} else {
		v.Name, v.Phone = string(name), string(phone)
	}
	return n + j + 10, nil
}

// readASlow is readA with a check for each field.
func readASlow(b []byte, n int, v *model.A, aliasing bool, check checks) (int, error) {
	name, n := readStr(b, n, check)
	if n < 0 || len(b)-n < 8 {
		return 0, ErrShort
	}
	v.BirthDay = int64(le.Uint64(b[n:]))
	phone, n := readStr(b, n+8, check)
	if n < 0 {
		return 0, ErrShort
	}
	x, n := readUint(b, n)
	if n < 0 || len(b)-n < 9 {
		return 0, ErrShort
	}
	if b[n] > 1 {
		return 0, ErrBool
	}
	v.Siblings = int(unzigzag(x))
	v.Spouse = b[n] == 1
	v.Money = math.Float64frombits(le.Uint64(b[n+1:]))
	if aliasing {
		v.Name, v.Phone = alias(name), alias(phone)
	} else {
		v.Name, v.Phone = string(name), string(phone)
	}
	return n + 9, nil
}

func decodeA(b []byte, v *model.A, aliasing bool, check checks) error {
	n, err := readA(b, 0, v, aliasing, check)
	if err == nil && n != len(b) {
		err = ErrTrailing
	}
	return err
}

// DecodeA decodes all of b with new strings.
func DecodeA(b []byte, v *model.A) error { return decodeA(b, v, false, full) }

// DecodeAStd is DecodeA with the standard library's check.
func DecodeAStd(b []byte, v *model.A) error { return decodeA(b, v, false, std) }

// DecodeAPlain is DecodeA without the check for UTF-8.
func DecodeAPlain(b []byte, v *model.A) error { return decodeA(b, v, false, plain) }

// DecodeAAlias decodes all of b; strings are b's own memory.
func DecodeAAlias(b []byte, v *model.A) error { return decodeA(b, v, true, full) }

// DecodeAAliasStd is DecodeAAlias with the standard library's check.
func DecodeAAliasStd(b []byte, v *model.A) error { return decodeA(b, v, true, std) }

// DecodeAAliasPlain is DecodeAAlias without the check for UTF-8.
func DecodeAAliasPlain(b []byte, v *model.A) error { return decodeA(b, v, true, plain) }

// DecodeAAliasEach checks for each field instead of for each run.
func DecodeAAliasEach(b []byte, v *model.A) error {
	n, err := readASlow(b, 0, v, true, full)
	if err == nil && n != len(b) {
		err = ErrTrailing
	}
	return err
}

// DecodeAReuse keeps the strings that did not change.
func DecodeAReuse(b []byte, v *model.A) error {
	name, phone := v.Name, v.Phone
	if err := decodeA(b, v, true, full); err != nil {
		v.Name, v.Phone = name, phone
		return err
	}
	v.Name, v.Phone = keep(name, v.Name), keep(phone, v.Phone)
	return nil
}

// keep returns old if it is what now says, else a copy of now.
func keep(old, now string) string {
	if old == now {
		return old
	}
	return string([]byte(now))
}

// DecodeAOneAlloc copies both strings with one allocation.
func DecodeAOneAlloc(b []byte, v *model.A) error {
	if err := decodeA(b, v, true, full); err != nil {
		return err
	}
	x := make([]byte, len(v.Name)+len(v.Phone))
	n := copy(x, v.Name)
	copy(x[n:], v.Phone)
	v.Name, v.Phone = alias(x[:n]), alias(x[n:])
	return nil
}

// WalkA finds three fields without decoding the rest, and without checks that
// finding them does not need.
func WalkA(b []byte) (phone []byte, siblings int, money float64, err error) {
	_, n := readBytes(b, 0)
	if n < 0 {
		return nil, 0, 0, ErrShort
	}
	phone, n = readBytes(b, n+8)
	if n < 0 {
		return nil, 0, 0, ErrShort
	}
	x, n := readUint(b, n)
	if n < 0 || len(b)-n < 9 {
		return nil, 0, 0, ErrShort
	}
	return phone, int(unzigzag(x)), math.Float64frombits(le.Uint64(b[n+1:])), nil
}

// skipA checks an A at n and returns its end.
func skipA(b []byte, n int, check checks) (int, error) {
	_, n = readStr(b, n, check)
	if n < 0 || len(b)-n < 8 {
		return 0, ErrShort
	}
	_, n = readStr(b, n+8, check)
	if n < 0 {
		return 0, ErrShort
	}
	_, n = readUint(b, n)
	if n < 0 || len(b)-n < 9 {
		return 0, ErrShort
	}
	if b[n] > 1 {
		return 0, ErrBool
	}
	return n + 9, nil
}

func validateA(b []byte, check checks) error {
	n, err := skipA(b, 0, check)
	if err == nil && n != len(b) {
		err = ErrTrailing
	}
	return err
}

// ValidateA checks all of b.
func ValidateA(b []byte) error { return validateA(b, full) }

// ValidateAStd is ValidateA with the standard library's check.
func ValidateAStd(b []byte) error { return validateA(b, std) }

// ValidateAPlain is ValidateA without the check for UTF-8.
func ValidateAPlain(b []byte) error { return validateA(b, plain) }
