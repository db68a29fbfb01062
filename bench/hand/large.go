package hand

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/fidelityframework/barewire-gen/bench/model"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// AppendLarge checks that strings are UTF-8 and writes the map's keys in order.
func AppendLarge(b []byte, v *model.Large) (_ []byte, err error) {
	b = binary.AppendUvarint(b, uint64(len(v.Records)))
	for i := range v.Records {
		if b, err = AppendA(b, &v.Records[i]); err != nil {
			return b, err
		}
	}
	if b, err = appendMeta(b, v.Meta); err != nil {
		return b, err
	}
	if v.Note != nil && !wire.ValidString(*v.Note) {
		return b, ErrUTF8
	}
	switch c := v.Choice.(type) {
	case model.ChoiceU:
	case model.ChoiceS:
		if !wire.ValidString(string(c)) {
			return b, ErrUTF8
		}
	case model.ChoiceA:
		if !wire.ValidString(c.Name) || !wire.ValidString(c.Phone) {
			return b, ErrUTF8
		}
	default:
		return b, ErrNil
	}
	return appendTail(b, v), nil
}

// appendMeta writes a map with its keys in order. The keys of small maps are
// sorted on the stack.
func appendMeta(b []byte, m map[string]string) ([]byte, error) {
	var few [64]string
	keys := few[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b = binary.AppendUvarint(b, uint64(len(keys)))
	for _, k := range keys {
		s := m[k]
		if !wire.ValidString(k) || !wire.ValidString(s) {
			return b, ErrUTF8
		}
		b = appendStr(appendStr(b, k), s)
	}
	return b, nil
}

// AppendLargePlain leaves the map's order to chance and checks nothing.
func AppendLargePlain(b []byte, v *model.Large) []byte {
	b = binary.AppendUvarint(b, uint64(len(v.Records)))
	for i := range v.Records {
		b = AppendAPlain(b, &v.Records[i])
	}
	return appendTail(appendMetaPlain(b, v.Meta), v)
}

// SizePutLargePlain takes the size of all records first.
func SizePutLargePlain(b []byte, v *model.Large) []byte {
	b = binary.AppendUvarint(b, uint64(len(v.Records)))
	size := 0
	for i := range v.Records {
		size += SizeA(&v.Records[i])
	}
	n := len(b)
	b = slices.Grow(b, size)[:n+size]
	for i := range v.Records {
		n += PutAPlain(b[n:], &v.Records[i])
	}
	return appendTail(appendMetaPlain(b, v.Meta), v)
}

func appendMetaPlain(b []byte, m map[string]string) []byte {
	b = binary.AppendUvarint(b, uint64(len(m)))
	for k, s := range m {
		b = appendStr(appendStr(b, k), s)
	}
	return b
}

// appendTail writes what stands behind the map.
func appendTail(b []byte, v *model.Large) []byte {
	if v.Note == nil {
		b = append(b, 0)
	} else {
		b = appendStr(append(b, 1), *v.Note)
	}
	switch c := v.Choice.(type) {
	case model.ChoiceU:
		b = le.AppendUint64(append(b, 0), uint64(c))
	case model.ChoiceS:
		b = appendStr(append(b, 1), string(c))
	case model.ChoiceA:
		b = AppendAPlain(append(b, 2), (*model.A)(&c))
	}
	return b
}

// minA is the least that an A takes.
const minA = 20

func decodeLarge(b []byte, v *model.Large, aliasing bool, check checks) error {
	count, n := readUint(b, 0)
	if n < 0 || count > uint64(len(b)-n)/minA {
		return ErrShort
	}
	if uint64(cap(v.Records)) >= count {
		v.Records = v.Records[:count]
	} else {
		v.Records = make([]model.A, count)
	}
	var err error
	for i := range v.Records {
		if n, err = readA(b, n, &v.Records[i], aliasing, check); err != nil {
			return err
		}
	}
	if n, err = readMeta(b, n, v, aliasing, check); err != nil {
		return err
	}
	return readTail(b, n, v, aliasing, check)
}

func readMeta(b []byte, n int, v *model.Large, aliasing bool, check checks) (int, error) {
	count, n := readUint(b, n)
	if n < 0 || count > uint64(len(b)-n)/2 {
		return 0, ErrShort
	}
	if v.Meta == nil {
		v.Meta = make(map[string]string, count)
	} else {
		clear(v.Meta)
	}
	for range count {
		var k, s []byte
		if k, n = readStr(b, n, check); n < 0 {
			return 0, ErrShort
		}
		if s, n = readStr(b, n, check); n < 0 {
			return 0, ErrShort
		}
		if aliasing {
			v.Meta[alias(k)] = alias(s)
		} else {
			v.Meta[string(k)] = string(s)
		}
	}
	if check != plain && uint64(len(v.Meta)) != count {
		return 0, ErrDuplicate
	}
	return n, nil
}

func readTail(b []byte, n int, v *model.Large, aliasing bool, check checks) error {
	if n >= len(b) || b[n] > 1 {
		return ErrBool
	}
	str := func(s []byte) string {
		if aliasing {
			return alias(s)
		}
		return string(s)
	}
	n++
	if b[n-1] == 0 {
		v.Note = nil
	} else {
		var s []byte
		if s, n = readStr(b, n, check); n < 0 {
			return ErrShort
		}
		if v.Note == nil {
			v.Note = new(string)
		}
		*v.Note = str(s)
	}
	if n >= len(b) {
		return ErrShort
	}
	n++
	switch b[n-1] {
	case 0:
		if len(b)-n < 8 {
			return ErrShort
		}
		v.Choice = model.ChoiceU(le.Uint64(b[n:]))
		n += 8
	case 1:
		var s []byte
		if s, n = readStr(b, n, check); n < 0 {
			return ErrShort
		}
		v.Choice = model.ChoiceS(str(s))
	case 2:
		var a model.A
		var err error
		if n, err = readA(b, n, &a, aliasing, check); err != nil {
			return err
		}
		v.Choice = model.ChoiceA(a)
	default:
		return ErrTag
	}
	if n != len(b) {
		return ErrTrailing
	}
	return nil
}

// DecodeLarge decodes all of b with new memory.
func DecodeLarge(b []byte, v *model.Large) error {
	*v = model.Large{}
	return decodeLarge(b, v, false, full)
}

// DecodeLargePlain is DecodeLarge without the checks for UTF-8 and duplicates.
func DecodeLargePlain(b []byte, v *model.Large) error {
	*v = model.Large{}
	return decodeLarge(b, v, false, plain)
}

// DecodeLargeReuse reuses the slice, the map and the pointer; strings are new.
func DecodeLargeReuse(b []byte, v *model.Large) error { return decodeLarge(b, v, false, full) }

// DecodeLargeReusePlain is DecodeLargeReuse without the checks for UTF-8 and duplicates.
func DecodeLargeReusePlain(b []byte, v *model.Large) error { return decodeLarge(b, v, false, plain) }

// DecodeLargeAlias takes new memory but for strings, which are b's own.
func DecodeLargeAlias(b []byte, v *model.Large) error {
	*v = model.Large{}
	return decodeLarge(b, v, true, full)
}

// DecodeLargeAliasReuse reuses the slice, the map and the pointer; strings are b's own.
func DecodeLargeAliasReuse(b []byte, v *model.Large) error { return decodeLarge(b, v, true, full) }

// DecodeLargeAliasReusePlain is DecodeLargeAliasReuse without checks.
func DecodeLargeAliasReusePlain(b []byte, v *model.Large) error {
	return decodeLarge(b, v, true, plain)
}

// DecodeLargeOneAlloc copies the input once and lets strings be parts of the
// copy: one string that is kept then keeps all of the message.
func DecodeLargeOneAlloc(b []byte, v *model.Large) error {
	*v = model.Large{}
	return decodeLarge(slices.Clone(b), v, true, full)
}

func validateLarge(b []byte, check checks) error {
	count, n := readUint(b, 0)
	if n < 0 || count > uint64(len(b)-n)/minA {
		return ErrShort
	}
	var err error
	for range count {
		if n, err = skipA(b, n, check); err != nil {
			return err
		}
	}
	if n, err = skipMeta(b, n, check); err != nil {
		return err
	}
	if n, err = skipNote(b, n, check); err != nil {
		return err
	}
	switch n++; b[n-1] {
	case 0:
		n += 8
	case 1:
		if _, n = readStr(b, n, check); n < 0 {
			return ErrShort
		}
	case 2:
		if n, err = skipA(b, n, check); err != nil {
			return err
		}
	default:
		return ErrTag
	}
	if n != len(b) {
		return ErrTrailing
	}
	return nil
}

// skipMeta checks a map. Keys that ascend, as our encoders write them, are all
// different; others need a set.
func skipMeta(b []byte, n int, check checks) (int, error) {
	count, n := readUint(b, n)
	if n < 0 || count > uint64(len(b)-n)/2 {
		return 0, ErrShort
	}
	var last []byte
	var seen map[string]struct{}
	at := n
	for i := range count {
		var k []byte
		if k, n = readStr(b, n, check); n < 0 {
			return 0, ErrShort
		}
		if check != plain && seen == nil && i > 0 && alias(k) <= alias(last) {
			seen = keysBefore(b, at, i)
		}
		if seen != nil {
			if _, twice := seen[alias(k)]; twice {
				return 0, ErrDuplicate
			}
			seen[alias(k)] = struct{}{}
		}
		last = k
		if _, n = readStr(b, n, check); n < 0 {
			return 0, ErrShort
		}
	}
	return n, nil
}

// keysBefore returns the first count keys of the entries at n.
func keysBefore(b []byte, n int, count uint64) map[string]struct{} {
	seen := make(map[string]struct{}, count)
	for range count {
		var k []byte
		k, n = readBytes(b, n)
		_, n = readBytes(b, n)
		seen[alias(k)] = struct{}{}
	}
	return seen
}

// skipNote checks the optional and that a tag stands behind it.
func skipNote(b []byte, n int, check checks) (int, error) {
	if n >= len(b) || b[n] > 1 {
		return 0, ErrBool
	}
	n++
	if b[n-1] == 1 {
		if _, n = readStr(b, n, check); n < 0 {
			return 0, ErrShort
		}
	}
	if n >= len(b) {
		return 0, ErrShort
	}
	return n, nil
}

// ValidateLarge checks all of b.
func ValidateLarge(b []byte) error { return validateLarge(b, full) }

// ValidateLargeStd is ValidateLarge with the standard library's check.
func ValidateLargeStd(b []byte) error { return validateLarge(b, std) }

// ValidateLargePlain is ValidateLarge without the checks for UTF-8 and duplicates.
func ValidateLargePlain(b []byte) error { return validateLarge(b, plain) }

// WalkLarge finds the birthday of record 500, the money of record 999 and the
// union's tag. BARE has no index, so without one the message is walked.
func WalkLarge(b []byte) (birthday int64, money float64, tag byte, err error) {
	count, n := readUint(b, 0)
	if n < 0 {
		return 0, 0, 0, ErrShort
	}
	for i := range int(count) {
		start := n
		if n, err = skipA(b, n, plain); err != nil {
			return 0, 0, 0, err
		}
		switch i {
		case 500:
			_, m := readBytes(b, start)
			birthday = int64(le.Uint64(b[m:]))
		case 999:
			money = math.Float64frombits(le.Uint64(b[n-8:]))
		}
	}
	if n, err = skipMeta(b, n, plain); err != nil {
		return 0, 0, 0, err
	}
	if n, err = skipNote(b, n, plain); err != nil {
		return 0, 0, 0, err
	}
	return birthday, money, b[n], nil
}
