package dynamic

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONError is what [Encode] gives for JSON that is no value of the type: where, and why.
type JSONError struct {
	Line, Column int    // from 1, the column in bytes
	Path         string // Person.orders[3].name
	Message      string
}

func (e *JSONError) Error() string {
	return fmt.Sprintf("%d:%d: %s: %s", e.Line, e.Column, e.Path, e.Message)
}

// tokens reads JSON piece by piece, as RFC 8259 has it and nothing beside. Package
// encoding/json would read names that stand twice, and text that is no Unicode, as
// something else than was written.
type tokens struct {
	b    []byte
	at   int
	path []string
}

// fail is an error at a place.
func (k *tokens) fail(at int, format string, args ...any) error {
	line := 1 + bytes.Count(k.b[:at], []byte("\n"))
	column := at - bytes.LastIndexByte(k.b[:at], '\n')
	return &JSONError{line, column, strings.Join(k.path, ""), fmt.Sprintf(format, args...)}
}

// next is the first byte of the next token, or 0 at the end.
func (k *tokens) next() byte {
	for k.at < len(k.b) {
		switch c := k.b[k.at]; c {
		case ' ', '\t', '\r', '\n':
			k.at++
		default:
			return c
		}
	}
	return 0
}

// take takes one of JSON's marks if it is next.
func (k *tokens) take(mark byte) bool {
	if k.next() != mark {
		return false
	}
	k.at++
	return true
}

// want takes a mark, or says what is wanted where it should stand.
func (k *tokens) want(mark byte, what string) error {
	if !k.take(mark) {
		return k.fail(k.at, "want %s, have %s", what, k.have())
	}
	return nil
}

// have says what stands next, for messages.
func (k *tokens) have() string {
	switch c := k.next(); {
	case c == 0 && k.at == len(k.b):
		return "the end"
	case c == '"':
		return "a string"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '-' || '0' <= c && c <= '9':
		return "a number"
	case 'a' <= c && c <= 'z':
		word := k.b[k.at:]
		if end := bytes.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }); end >= 0 {
			word = word[:end]
		}
		return "`" + string(word[:min(len(word), 20)]) + "`"
	}
	r, _ := utf8.DecodeRune(k.b[k.at:])
	return strconv.QuoteRune(r)
}

// word takes true, false or null if it is next.
func (k *tokens) word(word string) bool {
	k.next()
	rest, ok := bytes.CutPrefix(k.b[k.at:], []byte(word))
	if !ok || len(rest) > 0 && ('a' <= rest[0] && rest[0] <= 'z' || 'A' <= rest[0] && rest[0] <= 'Z' || '0' <= rest[0] && rest[0] <= '9') {
		return false
	}
	k.at += len(word)
	return true
}

// number takes a number's text: an optional minus, digits without a leading zero, a
// fraction, an exponent.
func (k *tokens) number() (string, bool) {
	k.next()
	i := k.at
	at := func() byte {
		if i < len(k.b) {
			return k.b[i]
		}
		return 0
	}
	digits := func() bool {
		from := i
		for '0' <= at() && at() <= '9' {
			i++
		}
		return i > from
	}
	if at() == '-' {
		i++
	}
	first := i
	if !digits() || k.b[first] == '0' && i > first+1 {
		return "", false
	}
	if at() == '.' {
		if i++; !digits() {
			return "", false
		}
	}
	if at()|0x20 == 'e' {
		if i++; at() == '+' || at() == '-' {
			i++
		}
		if !digits() {
			return "", false
		}
	}
	text := string(k.b[k.at:i])
	k.at = i
	return text, true
}

// str takes a string.
func (k *tokens) str(what string) (string, error) {
	if k.next() != '"' {
		return "", k.fail(k.at, "want %s, have %s", what, k.have())
	}
	start := k.at
	k.at++
	var s []byte
	for k.at < len(k.b) {
		switch c := k.b[k.at]; {
		case c == '"':
			k.at++
			if !utf8.Valid(s) {
				return "", k.fail(start, "the string is not UTF-8")
			}
			return string(s), nil
		case c < 0x20:
			return "", k.fail(k.at, "a control character in a string; write it as \\u%04x", c)
		case c != '\\':
			s = append(s, c)
			k.at++
		default:
			var err error
			if s, err = k.escape(s); err != nil {
				return "", err
			}
		}
	}
	return "", k.fail(start, "the string does not end")
}

// escape appends what a backslash and what follows it stand for.
func (k *tokens) escape(s []byte) ([]byte, error) {
	const plain, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if k.at+1 < len(k.b) {
		if i := strings.IndexByte(plain, k.b[k.at+1]); i >= 0 {
			k.at += 2
			return append(s, means[i]), nil
		}
	}
	r, ok := k.unit(k.at)
	if !ok {
		return nil, k.fail(k.at, "no escape of JSON")
	}
	if !utf16.IsSurrogate(r) {
		k.at += 6
		return utf8.AppendRune(s, r), nil
	}
	low, _ := k.unit(k.at + 6)
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return nil, k.fail(k.at, "half of a surrogate pair is no character")
	}
	k.at += 12
	return utf8.AppendRune(s, r), nil
}

// unit reads \uXXXX at a place.
func (k *tokens) unit(at int) (rune, bool) {
	if at+6 > len(k.b) || k.b[at] != '\\' || k.b[at+1] != 'u' {
		return 0, false
	}
	x, err := strconv.ParseUint(string(k.b[at+2:at+6]), 16, 16)
	return rune(x), err == nil
}

// into runs f with a step added to the path.
func (k *tokens) into(step string, f func() error) error {
	k.path = append(k.path, step)
	err := f()
	k.path = k.path[:len(k.path)-1]
	return err
}
