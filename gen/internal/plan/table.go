package plan

import "github.com/fidelityframework/barewire-gen/schema/source"

// scope is the injective table of the names in one place: a package, a struct,
// a view. A name belongs to the one that took it first.
type scope map[string]owner

// owner is who has a name.
type owner struct {
	what string // for people: "type User", "field `user_id`"; "a method" where generated code has it
	at   source.Span
}

// take gives the name to o. Where another has it already, it returns that one.
func (s scope) take(name string, o owner) (other owner, taken bool) {
	if other, taken = s[name]; !taken {
		s[name] = o
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

// reserve gives names to generated code.
func (s scope) reserve(names ...string) {
	for _, n := range names {
		s[n] = owner{what: "a method of generated code"}
	}
}
