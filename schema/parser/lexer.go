package parser

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// kind is a token's kind. A punctuation mark is its own character; a character
// that the language does not use is one too, so that messages can name it.
type kind byte

const (
	tEOF    kind = 0
	tIdent  kind = 'a'
	tNumber kind = '0'
)

// token is one lexical element. Offsets fit in 32 bits since files are limited.
type token struct {
	kind       kind
	first      bool // the first token on its line
	glued      bool // no white space or comment stands before it
	foreign    bool // an identifier with a character outside ASCII, already reported
	start, end int32
}

// lexer turns text into tokens on demand, and collects comments on the way.
type lexer struct {
	file  *source.File
	text  string // one copy of the file, so that names are slices of it
	pos   int
	last  int  // end of the token scanned last
	fresh bool // no token stands on the current line yet
	errs  diag.List
	quit  bool // too many errors: only tEOF follows

	foreign *diag.Diagnostic // the error about // and /* comments, once there is one

	comments []comment
	slab     slab[ast.Comment]
}

// comment is a comment with what the attachment of comments needs to know.
type comment struct {
	*ast.Comment
	after int // end of the token before it; 0 where there is none
}

// What a byte can be, for the lexer's one switch.
const (
	cOther = iota
	cSpace
	cLetter
	cDigit
	cPunct
	cHash
	cHigh // part of a character outside ASCII
)

var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= utf8.RuneSelf:
			t[c] = cHigh
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
			t[c] = cLetter
		case c >= '0' && c <= '9':
			t[c] = cDigit
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			t[c] = cSpace
		case c == '#':
			t[c] = cHash
		case c > ' ' && c < 0x7f:
			t[c] = cPunct
		}
	}
	return t
}()

func (l *lexer) span(start, end int) source.Span {
	return source.Span{File: l.file, Start: start, End: end}
}

// scan returns the next token. Faults of single characters are reported here
// and skipped, so that the parser sees what was meant.
func (l *lexer) scan() token {
	begin := l.pos
	for !l.quit && l.pos < len(l.text) {
		c := l.text[l.pos]
		switch class[c] {
		case cSpace:
			if c == '\n' {
				l.fresh = true
			}
			l.pos++
		case cHash:
			l.comment()
		case cLetter:
			return l.ident(begin)
		case cDigit:
			return l.number(begin)
		case cPunct:
			if c == '/' && l.foreignComment() {
				continue
			}
			return l.token(kind(c), l.pos+1, begin)
		case cHigh:
			if r, _ := utf8.DecodeRuneInString(l.text[l.pos:]); unicode.IsLetter(r) {
				return l.ident(begin)
			}
			l.strange()
		default:
			l.strange()
		}
	}
	l.pos = len(l.text)
	return l.token(tEOF, l.pos, begin)
}

func (l *lexer) token(k kind, end, begin int) token {
	t := token{kind: k, first: l.fresh, glued: begin == l.pos, start: int32(l.pos), end: int32(end)}
	l.pos, l.fresh = end, false
	if k != tEOF {
		l.last = end
	}
	return t
}

// ident scans an identifier. Letters outside ASCII are taken into it, so that
// one wrong letter is one error and not three.
func (l *lexer) ident(begin int) token {
	end, foreign := l.pos, -1
	for end < len(l.text) {
		c := l.text[end]
		if k := class[c]; k == cLetter || k == cDigit {
			end++
			continue
		} else if k != cHigh {
			break
		}
		r, n := utf8.DecodeRuneInString(l.text[end:])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) {
			break
		}
		if foreign < 0 {
			foreign = end
		}
		end += n
	}
	if foreign >= 0 {
		r, n := utf8.DecodeRuneInString(l.text[foreign:])
		l.report(diag.Errorf(diag.BadCharacter, l.span(foreign, foreign+n), "%s cannot stand in a name", describeRune(r)).
			Helpf("names are made of the letters A to Z and a to z, digits and _"))
	}
	t := l.token(tIdent, end, begin)
	t.foreign = foreign >= 0
	return t
}

// number scans digits and whatever clings to them; the parser checks the form.
func (l *lexer) number(begin int) token {
	end := l.pos
	for end < len(l.text) {
		if k := class[l.text[end]]; k != cLetter && k != cDigit {
			break
		}
		end++
	}
	return l.token(tNumber, end, begin)
}

// comment takes a comment up to the end of its line.
//
// comment = "#" { not_lf } .
func (l *lexer) comment() {
	enter("comment")
	start := l.pos
	end := len(l.text)
	if i := indexByte(l.text[start:], '\n'); i >= 0 {
		end = start + i
	}
	l.pos = end
	for end > start && l.text[end-1] == '\r' {
		end--
	}
	c := l.slab.new()
	*c = ast.Comment{Span: l.span(start, end), OwnLine: l.fresh}
	l.comments = append(l.comments, comment{c, l.last})
}

// foreignComment takes a // or /* comment, and reports whether there was one. The
// first in a file is an error; its fix covers the others.
func (l *lexer) foreignComment() bool {
	rest := l.text[l.pos:]
	if len(rest) < 2 || rest[1] != '/' && rest[1] != '*' {
		return false
	}
	start, line := l.pos, len(rest)
	if i := indexByte(rest, '\n'); i >= 0 {
		line = i
	}
	var edits []diag.Edit
	if rest[1] == '/' {
		n := 2
		for n < len(rest) && rest[n] == '/' {
			n++
		}
		l.pos += line
		edits = []diag.Edit{{Span: l.span(start, start+n), New: "#"}}
	} else if n := strings.Index(rest[2:], "*/"); n >= 0 {
		l.pos += n + 4
		if n+4 <= line && strings.TrimSpace(rest[n+4:line]) == "" {
			edits = []diag.Edit{{Span: l.span(start, start+2), New: "#"}, {Span: l.span(l.pos-2, l.pos)}}
		}
	} else {
		l.pos += line // not closed: take this line only
	}
	if l.foreign == nil {
		l.foreign = diag.Errorf(diag.ForeignComment, l.span(start, start+2), "comments start with `#`, not with `%s`", rest[:2]).
			Helpf("a comment ends with its line")
		l.report(l.foreign)
	}
	if edits != nil && len(l.foreign.Fixes) == 0 {
		l.foreign.Fix("write # comments", edits...)
	} else if edits != nil {
		l.foreign.Fixes[0].Edits = append(l.foreign.Fixes[0].Edits, edits...)
	}
	return true
}

// strange skips a run of characters that cannot stand anywhere, with one error.
func (l *lexer) strange() {
	start := l.pos
	r, n := utf8.DecodeRuneInString(l.text[start:])
	d := diag.Errorf(diag.BadCharacter, l.span(start, start+n), "%s cannot stand in a schema", describeRune(r))
	if r == utf8.RuneError && n == 1 {
		d = diag.Errorf(diag.BadCharacter, l.span(start, start+1), "byte 0x%02x is not UTF-8", l.text[start]).
			Helpf("save the file as UTF-8")
	} else if unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b' {
		d.Helpf("only space, tab and line end are white space in BARE")
	}
	for l.pos < len(l.text) {
		if k := class[l.text[l.pos]]; k != cOther && k != cHigh {
			break
		}
		r, n := utf8.DecodeRuneInString(l.text[l.pos:])
		if unicode.IsLetter(r) {
			break
		}
		l.pos += n
	}
	l.report(d)
}

func (l *lexer) report(d *diag.Diagnostic) {
	if l.quit {
		return
	}
	l.errs = append(l.errs, d)
	if len(l.errs) >= diag.MaxErrors {
		l.errs = append(l.errs, diag.Errorf(diag.TooManyErrors, d.Primary.Span, "more than %d errors; the rest of the file was not read", diag.MaxErrors))
		l.quit = true
	}
}
