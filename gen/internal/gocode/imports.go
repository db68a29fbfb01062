package gocode

import "github.com/dave/jennifer/jen"

// Runtime is the import path of the package that generated code stands on,
// Regions that of the one that code for memory regions needs beside it.
const (
	Runtime = "github.com/fidelityframework/barewire-gen/runtime/wire"
	Regions = "github.com/fidelityframework/barewire-gen/runtime"
)

// Imports are the qualifiers that emitters may write, and what they import.
// Nothing else in generated code has one of these names: names of the schema
// that stand at package level are exported, and locals are chosen by emitters.
var Imports = map[string]string{
	"wire":     Runtime,
	"barewire": Regions,
	"bare":     "git.sr.ht/~sircmpwn/go-bare",
	"binary":   "encoding/binary",
	"bits":     "math/bits",
	"bytes":    "bytes",
	"cmp":      "cmp",
	"errors":   "errors",
	"fmt":      "fmt",
	"io":       "io",
	"iter":     "iter",
	"maps":     "maps",
	"math":     "math",
	"slices":   "slices",
	"strconv":  "strconv",
	"strings":  "strings",
	"unsafe":   "unsafe",
	"utf8":     "unicode/utf8",
}

// split cuts Go text at its qualifiers, so that jennifer sees which packages
// are used. Strings, runes and comments are left alone, and so is what follows
// a dot: `x.math.Sum` has no qualifier.
func split(text string) []jen.Code {
	var out []jen.Code
	from := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"' || c == '\'' || c == '`':
			i = skipQuoted(text, i)
		case c == '/' && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '*'):
			i = skipComment(text, i)
		case isLetter(c):
			end := i + 1
			for end < len(text) && (isLetter(text[end]) || text[end]-'0' < 10) {
				end++
			}
			if end < len(text) && text[end] == '.' && !(i > 0 && text[i-1] == '.') {
				if path := Imports[text[i:end]]; path != "" {
					name := end + 1
					for name < len(text) && (isLetter(text[name]) || text[name]-'0' < 10) {
						name++
					}
					if from < i {
						out = append(out, jen.Op(text[from:i]))
					}
					out = append(out, jen.Qual(path, text[end+1:name]))
					from, end = name, name
				}
			}
			i = end
		case c-'0' < 10:
			// A number may have letters in it, and a dot behind it.
			for i < len(text) && (isLetter(text[i]) || text[i]-'0' < 10) {
				i++
			}
		default:
			i++
		}
	}
	if from < len(text) {
		out = append(out, jen.Op(text[from:]))
	}
	return out
}

func isLetter(c byte) bool { return c|0x20-'a' < 26 || c == '_' || c >= 0x80 }

func skipQuoted(text string, i int) int {
	quote := text[i]
	for i++; i < len(text) && text[i] != quote; i++ {
		if text[i] == '\\' && quote != '`' {
			i++
		}
	}
	return i + 1
}

func skipComment(text string, i int) int {
	end := "\n"
	if text[i+1] == '*' {
		end = "*/"
	}
	for i += 2; i < len(text); i++ {
		if len(text)-i >= len(end) && text[i:i+len(end)] == end {
			return i + len(end)
		}
	}
	return i
}
