package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Code names a rule: BW and four digits, by stage. 10xx syntax, 11xx types and
// declarations, 12xx what peers refuse, 13xx names in Go, 14xx names and use, 2xxx layout, 3xxx
// annotations, 4xxx compatibility, 5xxx analyzers, 6xxx messages and versions that
// a command was asked about, 9xxx bugs of ours.
// A code is never given to another rule.
type Code string

// Rule is the registry's entry for a code. The terminal, the explain command,
// the machine formats and the docs page all print this one value.
type Rule struct {
	Code     Code
	Name     string // kebab-case, for people who remember words
	Severity Severity
	Title    string // one line: what is wrong
	Why      string // why it hurts, in a paragraph or two
	Wrong    string // an example that has the fault
	Right    string // the same, mended
}

// rules is filled by register, from one file per range of codes (codes_*.go).
var rules = map[Code]*Rule{}

func register(rs ...Rule) struct{} {
	for i := range rs {
		r := rs[i]
		if _, dup := rules[r.Code]; dup {
			panic("diag: code registered twice: " + string(r.Code))
		}
		rules[r.Code] = &r
	}
	return struct{}{}
}

// Rule returns the code's entry. A code without one is a bug of ours; it still
// gets an entry that can be printed.
func (c Code) Rule() *Rule {
	if r := rules[c]; r != nil {
		return r
	}
	return &Rule{Code: c, Name: "unregistered", Title: fmt.Sprintf("%s is not in the registry", c)}
}

// Lookup finds a rule by its code or its name, in any case.
func Lookup(s string) (*Rule, bool) {
	if r := rules[Code(strings.ToUpper(s))]; r != nil {
		return r, true
	}
	for _, r := range rules {
		if strings.EqualFold(r.Name, s) {
			return r, true
		}
	}
	return nil, false
}

// Rules returns every rule, sorted by code.
func Rules() []*Rule {
	all := make([]*Rule, 0, len(rules))
	for _, r := range rules {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Rule) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return all
}
