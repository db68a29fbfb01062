package plan

import "github.com/fidelityframework/barewire-gen/schema/source"

// scope is the injective table of the names in one place: a package, a struct,
// a view. A name belongs to the one that took it first.
type scope struct {
	taken    map[string]owner
	reserved []nameSet // what generated code has; shared by all scopes of a kind
}

// nameSet is names that generated code has.
type nameSet map[string]bool

func namesOf(names ...string) nameSet {
	s := make(nameSet, len(names))
	for _, n := range names {
		s[n] = true
	}
	return s
}

func newScope(reserved ...nameSet) scope {
	return scope{taken: map[string]owner{}, reserved: reserved}
}

// owner is who has a name.
type owner struct {
	what string // for people: "type User", "field `user_id`"; "a method" where generated code has it
	at   source.Span
}

// aMethod owns the names that generated code has.
const aMethod = "a method of generated code"

// take gives the name to o. Where another has it already, it returns that one.
func (s scope) take(name string, o owner) (other owner, taken bool) {
	for _, r := range s.reserved {
		if r[name] {
			return owner{what: aMethod}, true
		}
	}
	if other, taken = s.taken[name]; !taken {
		s.taken[name] = o
	}
	return other, taken
}

// free takes the name, or the first free one with underscores behind it, and
// returns it with the one who had the plain name.
func (s scope) free(name string, o owner) (got string, other owner, changed bool) {
	other, changed = s.take(name, o)
	got = name
	for taken := changed; taken; {
		got += "_"
		_, taken = s.take(got, o)
	}
	return got, other, changed
}
