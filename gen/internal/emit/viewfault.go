package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// The errors of fixed views. Making a view and checking a byte or two is so little
// that even a call that is never made is felt: a loop around it cannot keep its
// variables in registers. So the error is a wire.Fault, a pointer that says by its
// address what is wrong. It is explained when somebody asks.

// faultCodes is how many faults there are: len of the runtime's faults.
const faultCodes = 1 << 16

// faultType is the name of the error of a type's view.
func faultType(t *plan.Type) string { return "fault" + t.Go }

// hasFaults reports whether a type's view has faults. What a union misses depends on
// its tag, and a large type has more lengths than there are faults: they have the
// decoder's error, explained at once.
func hasFaults(t *plan.Type) bool {
	size := t.Layout().Min
	return t.Named && size > 0 && size < faultCodes && !unionInside(t)
}

func unionInside(t *plan.Type) bool {
	if t.Kind == resolve.FixedList {
		return unionIn(t.Under)
	}
	if t.Kind == resolve.Union {
		return true
	}
	for _, v := range parts(t) {
		if unionIn(v) {
			return true
		}
	}
	return false
}

func unionIn(v *plan.Val) bool {
	switch v.Kind {
	case resolve.Union:
		return true
	case resolve.Struct:
		return unionInside(v.Type)
	case resolve.FixedList:
		return unionIn(v.Elem)
	}
	return false
}

// fault writes the type.
//
//	type faultTick wire.Fault
func (e *viewer) fault(t *plan.Type) {
	name := faultType(t)
	e.g.Line(fmt.Sprintf("%s is the error of a %s's bytes. It wraps a *wire.Error.", name, t.Go), "type %s wire.Fault", name)
	e.g.Func("", fmt.Sprintf("(f *%s) Error() string", name), func(b *gocode.Body) {
		b.P("return f.Unwrap().Error()")
	})
	e.g.Func("", fmt.Sprintf("(f *%s) Unwrap() error", name), func(b *gocode.Body) {
		b.P("return %s.Fault((*wire.Fault)(f))", typeVar(t))
	})
}

// cutError is the error of b, which has fewer bytes than a value of the type.
func cutError(t *plan.Type) string {
	if hasFaults(t) {
		return fmt.Sprintf("(*%s)(wire.CutAt(len(b)))", faultType(t))
	}
	return typeVar(t) + ".Refuse(b)"
}

// canTell reports whether there is a fault for each value of the byte at a spot. A
// byte of a varint is not told: it is wrong together with those behind it.
func canTell(t *plan.Type, at spot) bool {
	return hasFaults(t) && at.base == "" && int(t.Layout().Min)+256*at.off+255 < faultCodes
}

// badByte is the error of the byte at a spot, which is c.
func badByte(t *plan.Type, at spot, c string) string {
	return fmt.Sprintf("(*%s)(wire.BadByte(%d, %d, %s))", faultType(t), t.Layout().Min, at.off, c)
}
