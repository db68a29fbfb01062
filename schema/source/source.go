// Package source holds schema files and places in them.
//
// A place is a byte offset. Lines and columns are a view of it, worked out when
// a person or an editor asks, in the unit that it asks for.
package source

import (
	"sort"
	"unicode/utf8"
)

// File is one schema file: its name as the user gave it and its bytes.
// Neither changes after NewFile, so a File may be shared.
type File struct {
	name  string
	text  []byte
	lines []int // offset of the first byte of each line
}

// NewFile returns the file. It keeps text, which must not change afterwards.
func NewFile(name string, text []byte) *File {
	f := &File{name: name, text: text, lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	return f
}

// Name is the file's name as it was given.
func (f *File) Name() string { return f.name }

// Text is the file's bytes. The caller must not change them.
func (f *File) Text() []byte { return f.text }

// Unit is what a column counts.
type Unit uint8

const (
	Bytes Unit = iota // as the go command, gcc and the terminal's matchers count
	Runes             // Unicode code points
	UTF16             // as the language server protocol counts
)

// Position is a place for people: line and column both count from 1.
type Position struct{ Line, Column int }

// Position returns the line and column of an offset. An offset outside of the
// file counts as the nearest one inside.
func (f *File) Position(offset int, unit Unit) Position {
	offset = min(max(offset, 0), len(f.text))
	line := sort.SearchInts(f.lines, offset+1) - 1
	col := 0
	switch before := f.text[f.lines[line]:offset]; unit {
	case Runes:
		col = utf8.RuneCount(before)
	case UTF16:
		for len(before) > 0 {
			r, n := utf8.DecodeRune(before)
			before = before[n:]
			col++
			if r > 0xffff {
				col++
			}
		}
	default:
		col = len(before)
	}
	return Position{Line: line + 1, Column: col + 1}
}

// Lines is the number of lines. A final newline opens one more, empty line.
func (f *File) Lines() int { return len(f.lines) }

// Line returns the text of a line, which counts from 1, without its line end.
func (f *File) Line(n int) []byte {
	if n < 1 || n > len(f.lines) {
		return nil
	}
	end := len(f.text)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	text := f.text[f.lines[n-1]:end]
	if len(text) > 0 && text[len(text)-1] == '\r' {
		text = text[:len(text)-1]
	}
	return text
}

// LineStart is the offset of the first byte of a line, which counts from 1.
func (f *File) LineStart(n int) int { return f.lines[n-1] }

// Span is a run of bytes in a file: from Start up to, not including, End.
// The zero Span is no place.
type Span struct {
	File       *File
	Start, End int
}

// IsValid reports whether the span is a place in a file.
func (s Span) IsValid() bool { return s.File != nil }

// Text is what stands there.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return string(s.File.text[s.Start:s.End])
}

// Pos is the position of the span's first byte, columns in bytes.
func (s Span) Pos() Position {
	if s.File == nil {
		return Position{}
	}
	return s.File.Position(s.Start, Bytes)
}

// To returns the span from the start of s to the end of t.
func (s Span) To(t Span) Span {
	if s.File == nil {
		return t
	}
	if t.File != s.File {
		return s
	}
	return Span{s.File, s.Start, max(s.End, t.End)}
}
