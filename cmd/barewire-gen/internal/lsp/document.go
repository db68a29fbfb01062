package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// unit is a text of a schema at one time: an open document's, or a file's beside one.
// It does not change.
type unit struct {
	uri     string
	name    string // of the file, for people
	version *int   // as the editor counts; nil for files
	file    *source.File

	parsed *schema.Parsed // nil until somebody asks
	index  *names         // nil until somebody asks
}

func newUnit(uri string, version *int, text []byte) *unit {
	name := uri
	if path := pathOf(uri); path != "" {
		name = path
	}
	return &unit{uri: uri, name: name, version: version, file: source.NewFile(name, text)}
}

// tree is what was parsed.
func (u *unit) tree() *schema.Parsed {
	if u.parsed == nil {
		p := schema.Parse(u.file)
		u.parsed = &p
	}
	return u.parsed
}

// document is what an editor has open.
type document struct {
	*unit                           // as it is now
	found   diag.List               // of the last analysis
	of      *unit                   // what was analyzed then
	uris    map[*source.File]string // of the files that were analyzed with it
	schema  *schema.Schema          // what was understood of it
	waiting []func()                // what waits for the next analysis
	dirty   bool                    // changed since an analysis began
	busy    bool                    // one is under way
}

// pathOf is the path of a file's URI, or "" where it is another kind.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // /c:/dir
	}
	return filepath.FromSlash(path)
}

// uriOf is the URI of a file beside another, whose spelling of the directory it takes
// over: editors tell documents apart by their URIs.
func uriOf(beside, name string) string {
	return beside[:strings.LastIndexByte(beside, '/')+1] + url.PathEscape(name)
}

// at is the position of an offset.
func (u *unit) at(offset int) position {
	p := u.file.Position(offset, source.UTF16)
	return position{p.Line - 1, p.Column - 1}
}

func (u *unit) span(s source.Span) textRange { return textRange{u.at(s.Start), u.at(s.End)} }

func spanOf(s source.Span) textRange {
	from, to := s.File.Position(s.Start, source.UTF16), s.File.Position(s.End, source.UTF16)
	return textRange{position{from.Line - 1, from.Column - 1}, position{to.Line - 1, to.Column - 1}}
}

// offset is the offset of a position. One behind the end of its line counts as that
// end, and one behind the last line as the end of the text.
func (u *unit) offset(p position) int {
	text := u.file.Text()
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= u.file.Lines():
		return len(text)
	}
	at := u.file.LineStart(p.Line + 1)
	for units := 0; at < len(text) && text[at] != '\n' && units < p.Character; {
		r, n := utf8.DecodeRune(text[at:])
		if units++; r > 0xffff {
			units++
		}
		if text[at] == '\r' && at+1 < len(text) && text[at+1] == '\n' {
			break
		}
		at += n
	}
	return at
}

// changed is the unit with a range replaced.
func (u *unit) changed(version *int, r *textRange, text string) *unit {
	if r == nil {
		return newUnit(u.uri, version, []byte(text))
	}
	from, to := u.offset(r.Start), u.offset(r.End)
	if to < from {
		from, to = to, from
	}
	old := u.file.Text()
	b := make([]byte, 0, len(old)+len(text))
	b = append(append(append(b, old[:from]...), text...), old[to:]...)
	return newUnit(u.uri, version, b)
}
