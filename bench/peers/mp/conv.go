// Package mp is msgp v1.6.5. types_gen.go is what msgp emitted.
package mp

import "github.com/fidelityframework/barewire-gen/bench/model"

// FromLarge returns v as the peer's type.
func FromLarge(v *model.Large) *Large {
	l := &Large{Meta: v.Meta, Note: v.Note}
	for i := range v.Records {
		l.Records = append(l.Records, AT(v.Records[i]))
	}
	switch c := v.Choice.(type) {
	case model.ChoiceU:
		u := uint64(c)
		l.U = &u
	case model.ChoiceS:
		s := string(c)
		l.S = &s
	case model.ChoiceA:
		a := AT(c)
		l.CA = &a
	}
	return l
}
