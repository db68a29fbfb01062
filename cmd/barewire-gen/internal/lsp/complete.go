package lsp

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// mostItems is how many types are offered; of more, those that begin with what is typed.
const mostItems = 500

var (
	annotationWord = regexp.MustCompile(`#@(\w*)$`)
	annotationArgs = regexp.MustCompile(`#@(\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)$`)
	lastWord       = regexp.MustCompile(`\w*$`)
)

// completion offers what can stand at a position: annotations and their arguments
// behind #@, types where a type is due, declarations at the top level.
func (s *server) completion(p *positionParams) (any, error) {
	d, err := s.open(p.TextDocument)
	if err != nil {
		return nil, err
	}
	offset := d.offset(p.Position)
	text := d.file.Text()[:offset]
	line := string(text[bytes.LastIndexByte(text, '\n')+1:])
	list := completionList{Items: []completionItem{}}
	switch m := annotationArgs.FindStringSubmatch(line); {
	case m != nil:
		s.completeArgs(&list, d, m[1], m[2])
	case annotationWord.MatchString(line):
		for _, a := range annotations {
			list.Items = append(list.Items, completionItem{Label: a.word, Kind: kindProperty, Documentation: a.what, InsertText: a.snippet, InsertTextFormat: 2})
		}
	case strings.Contains(line, "#"):
		// An ordinary comment: people write what they like.
	default:
		word := lastWord.FindString(line)
		s.completeSchema(&list, d, text[:len(text)-len(word)], word)
	}
	if s.plain {
		for i := range list.Items { // the label is inserted
			list.Items[i].InsertText, list.Items[i].InsertTextFormat = "", 0
		}
	}
	return list, nil
}

func (s *server) completeArgs(list *completionList, d *document, word, before string) {
	if word == "ref" && !strings.Contains(before, ",") {
		s.completeTypes(list, d, strings.TrimSpace(before))
		return
	}
	for _, a := range arguments[word] {
		if !strings.Contains(before, a) {
			list.Items = append(list.Items, completionItem{Label: a, Kind: kindEnumMember})
		}
	}
}

// completeSchema offers what may follow a text, of which word is typed.
func (s *server) completeSchema(list *completionList, d *document, before []byte, word string) {
	switch expects(before) {
	case expectType:
		for _, m := range makers {
			list.Items = append(list.Items, completionItem{Label: m.word, Kind: kindKeyword, Documentation: m.what, InsertText: m.snippet, InsertTextFormat: 2, SortText: "2" + m.word})
		}
		for _, name := range builtinNames {
			list.Items = append(list.Items, completionItem{Label: name, Kind: kindKeyword, Documentation: builtins[name], SortText: "1" + name})
		}
		s.completeTypes(list, d, word)
	case expectDecl:
		list.Items = append(list.Items, completionItem{Label: "type", Kind: kindKeyword, Detail: "declare a type", InsertText: "type ${1:Name} ${2:struct {\n  ${3:field}: ${4:u32}\n\\}}", InsertTextFormat: 2})
	}
}

var builtinNames = func() (names []string) {
	for name := range builtins {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}()

// completeTypes offers the types that are declared here, and those of the schemas
// beside it that it uses already.
func (s *server) completeTypes(list *completionList, d *document, word string) {
	// While somebody types, the names of a moment ago will do: the one that is being
	// typed is none to offer, and a large text takes its time to parse.
	u := d.unit
	if u.parsed == nil && d.of != nil {
		u = d.of
	}
	var all []string
	for _, u := range s.set(u) {
		for name := range u.names().declared {
			if name != "" {
				all = append(all, name)
			}
		}
	}
	if len(all) > mostItems {
		list.IsIncomplete = true
		lower := strings.ToLower(word)
		all = slices.DeleteFunc(all, func(n string) bool { return !strings.HasPrefix(strings.ToLower(n), lower) })
	}
	sort.Strings(all)
	all = slices.Compact(all)
	for _, name := range all[:min(len(all), mostItems)] {
		list.Items = append(list.Items, completionItem{Label: name, Kind: kindClass, SortText: "0" + name})
	}
}

// expectation is what the grammar wants next.
type expectation uint8

const (
	expectNothing expectation = iota // a name, which nobody can guess
	expectType
	expectDecl
)

// expects reads the text before a place as far as it must: what stands right before it
// and in which body it is. Comments and what is broken do not mislead it.
func expects(text []byte) expectation {
	var open []string // the words before the braces that are open
	var last, before string
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '#':
			if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(text)
			}
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
			continue
		}
		token := wordAt(text[i:])
		i += len(token)
		switch token {
		case "{", "(":
			if token == "(" {
				last = "union" // the old spelling of one
			}
			open = append(open, last)
		case "}", ")":
			open = open[:max(0, len(open)-1)]
		}
		before, last = last, token
	}
	inside := ""
	if len(open) > 0 {
		inside = open[len(open)-1]
	}
	switch {
	case last == ":" || last == "<" || last == "|", before == "type" && isName(last):
		return expectType
	case (last == "{" || last == "(") && inside == "union", last == "]" && before == "[":
		return expectType
	case len(open) == 0 && last != "type" && last != "enum":
		return expectDecl
	}
	return expectNothing
}

// wordAt is the first token of a text: a word, or one character.
func wordAt(text []byte) string {
	n := bytes.IndexFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if n < 0 {
		n = len(text)
	}
	if n == 0 {
		_, n = utf8.DecodeRune(text)
	}
	return string(text[:n])
}
