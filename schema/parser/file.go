package parser

import (
	"bytes"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// byteOrderMark is the UTF-8 byte order mark at the start of a text, or nothing.
func byteOrderMark(text []byte) []byte {
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		return text[:3]
	}
	return nil
}

// unreadable returns the one diagnostic for a file that is not worth reading.
func unreadable(f *source.File) *diag.Diagnostic {
	text := f.Text()
	place := func(at int) source.Span { return source.Span{File: f, Start: at, End: min(at+1, len(text))} }
	if len(text) > MaxFile {
		return diag.Errorf(diag.Unreadable, place(0), "this file is too large: %d MiB, where a schema has at most %d", len(text)>>20, MaxFile>>20).
			Helpf("files that are given together are one schema: it can be split")
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return diag.Errorf(diag.Unreadable, place(0), "this file is UTF-16").Helpf("save it as UTF-8")
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return diag.Errorf(diag.Unreadable, place(i), "this is not a text file: byte %d is zero", i)
	}
	if !utf8.Valid(text) {
		i := 0
		for i < len(text) {
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			i += n
		}
		return diag.Errorf(diag.Unreadable, place(i), "this file is not UTF-8: byte 0x%02x", text[i]).
			Helpf("save it as UTF-8")
	}
	return nil
}
