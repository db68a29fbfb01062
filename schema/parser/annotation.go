package parser

import (
	"strings"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// annotScanner reads one annotation comment. The first error ends it.
type annotScanner struct {
	*parser
	name     string // the annotation's
	pos, end int
	depth    int
	failed   bool
}

// annotation = "#@" word [ "(" arg { "," arg } ")" ] .
//
// The result is nil where the comment does not follow the grammar, which is
// then reported.
func (p *parser) annotation(c *ast.Comment) *ast.Annotation {
	enter("annotation")
	s := &annotScanner{parser: p, pos: c.Span.Start + 2, end: c.Span.End}
	a := p.annots.new()
	a.Span = c.Span
	if s.more() && class[s.text[s.pos]] == cSpace {
		s.fail(s.pos, "the annotation's name stands right behind `#@`")
		return nil
	}
	a.Name = s.word("the annotation's name")
	s.name = a.Name.Name
	a.Args = s.args()
	s.space()
	if !s.failed && s.more() {
		d := s.fail(s.pos, "nothing can stand behind an annotation but the end of the line")
		d.Primary.Span.End = s.trimmedEnd()
		if strings.HasPrefix(s.text[s.pos:s.end], "#@") {
			d.Helpf("put the second annotation on a line of its own")
		} else {
			d.Helpf("put remarks into a # comment on a line of its own")
		}
	}
	if s.failed {
		return nil
	}
	return a
}

// args parses the parenthesised arguments, if there are any.
func (s *annotScanner) args() (args []*ast.Arg) {
	s.space()
	if s.failed || !s.more() || s.text[s.pos] != '(' {
		return nil
	}
	open := s.pos
	s.pos++
	if s.depth++; s.depth > 10 {
		s.fail(open, "arguments are nested too deep")
		return nil
	}
	s.space()
	if s.more() && s.text[s.pos] == ')' {
		s.fail(open, "an argument is missing between the parentheses").Helpf("leave out the parentheses where there is none")
		return nil
	}
	for !s.failed {
		args = append(args, s.arg())
		s.space()
		switch {
		case s.failed:
		case !s.more():
			s.fail(s.trimmedEnd(), "expected `)`, found the end of the line").Also(s.span(open, open+1), "opened here")
		case s.text[s.pos] == ',':
			s.pos++
		case s.text[s.pos] == ')':
			s.pos++
			s.depth--
			return args
		default:
			s.behind()
		}
	}
	return nil
}

// behind reports what stands behind an argument in the place of , or ).
func (s *annotScanner) behind() {
	r, _ := utf8.DecodeRuneInString(s.text[s.pos:s.end])
	switch {
	case s.name == "package" && r == '/':
		s.advise(s.fail(s.pos, "a package has a name here, not a path"))
	case r >= utf8.RuneSelf:
		s.advise(s.fail(s.pos, describeRune(r)+" cannot stand in an annotation"))
	default:
		s.fail(s.pos, "expected `,` or `)` behind this argument")
	}
}

// advise says what the words of this annotation look like.
func (s *annotScanner) advise(d *diag.Diagnostic) {
	switch s.name {
	case "package":
		d.Helpf("write the name that stands in the package clause: `#@package(name)`")
	case "go":
		d.Helpf("a Go name starts with a capital letter A to Z, and has letters, digits and _: `#@go(name=UserID)`")
	default:
		d.Helpf("words are made of the letters A to Z and a to z, digits and _")
	}
}

// arg = [ word "=" ] word [ "(" arg { "," arg } ")" ] .
func (s *annotScanner) arg() *ast.Arg {
	enter("arg")
	a := s.parser.args.new()
	s.space()
	start := s.pos
	a.Value = s.word("an argument")
	s.space()
	if !s.failed && s.more() && s.text[s.pos] == '=' {
		s.pos++
		s.space()
		a.Key, a.Value = a.Value, s.word("a value for `"+a.Value.Name+"`")
	}
	end := s.pos
	if args := s.args(); args != nil {
		a.Args, end = args, s.pos
	}
	if end > start && a.Args == nil {
		end = a.Value.Span.End
	}
	a.Span = s.span(start, max(start, end))
	return a
}

// word = ( letter | digit ) { letter | digit | "." } .
//
// A number is a word too: what it means depends on the annotation. The dot
// serves qualified names.
func (s *annotScanner) word(what string) ast.Ident {
	enter("word")
	if s.failed {
		return ast.Ident{}
	}
	start := s.pos
	for s.more() {
		c := s.text[s.pos]
		if k := class[c]; k != cLetter && k != cDigit && (c != '.' || s.pos == start) {
			break
		}
		s.pos++
	}
	if s.pos == start {
		s.noWord(what)
		return ast.Ident{}
	}
	id := ast.Ident{Name: s.text[start:s.pos], Span: s.span(start, s.pos)}
	if s.more() && s.text[s.pos] == '-' {
		s.fail(s.pos, "`-` cannot stand in a name").Helpf("names are made of letters, digits and _")
	}
	return id
}

// noWord reports what stands in the place of a word.
func (s *annotScanner) noWord(what string) {
	r, _ := utf8.DecodeRuneInString(s.text[s.pos:s.end])
	switch {
	case !s.more():
		s.fail(s.pos, "expected "+what)
	case (r == '-' || r == '+') && s.pos+1 < s.end && class[s.text[s.pos+1]] == cDigit:
		s.fail(s.pos, "numbers have no sign here")
	case r == '"' || r == '\'' || r == '`':
		d := s.fail(s.pos, "words are written without quotes here")
		if s.name == "package" || s.name == "go" {
			s.advise(d)
		}
	case r >= utf8.RuneSelf:
		s.advise(s.fail(s.pos, describeRune(r)+" cannot stand in an annotation"))
	default:
		s.fail(s.pos, "expected "+what)
	}
}

func (s *annotScanner) more() bool { return s.pos < s.end }

func (s *annotScanner) space() {
	for s.more() && class[s.text[s.pos]] == cSpace {
		s.pos++
	}
}

// trimmedEnd is the comment's end without white space.
func (s *annotScanner) trimmedEnd() int {
	end := s.end
	for class[s.text[end-1]] == cSpace {
		end--
	}
	return end
}

// fail reports an error at one character and ends the annotation.
func (s *annotScanner) fail(at int, message string) *diag.Diagnostic {
	to := min(at+1, s.end)
	for to < s.end && s.text[to]&0xc0 == 0x80 { // up to the end of the character
		to++
	}
	d := diag.Errorf(diag.BadAnnotation, s.span(min(at, to), to), "%s", message)
	if !s.failed {
		s.failed = true
		s.report(d)
	}
	return d
}
