package compat_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/compat"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// observed is what happened to the messages of one writer with one reader.
type observed struct{ read, refused, misread int }

func (o observed) String() string {
	return fmt.Sprintf("%d read, %d refused, %d misread", o.read, o.refused, o.misread)
}

// reach is the verdict that fits what was observed in all contexts.
func reach(all []observed) compat.Reach {
	worst := compat.All
	for _, o := range all {
		switch {
		case o.misread > 0, o.read == 0:
			return compat.None
		case o.refused > 0:
			worst = compat.Some
		}
	}
	return worst
}

// contexts puts a type where it stands alone, where others follow, and where it repeats: bytes
// that it leaves, or takes too many of, are then those of others.
func contexts(d *resolve.Decl) []*resolve.Type {
	ref := &resolve.Type{Kind: resolve.Ref, Decl: d}
	tail := &resolve.Type{Kind: resolve.List, Elem: &resolve.Type{Kind: resolve.U8}}
	numbers := &resolve.Type{Kind: resolve.List, Elem: &resolve.Type{Kind: resolve.Uint}}
	return []*resolve.Type{
		ref,
		{Kind: resolve.Struct, Fields: []*resolve.Field{{Name: "x", Type: ref}, {Name: "tail", Type: tail}}},
		{Kind: resolve.Struct, Fields: []*resolve.Field{{Name: "x", Type: ref}, {Name: "numbers", Type: numbers}, {Name: "y", Type: ref}}},
		{Kind: resolve.FixedList, Elem: ref, Len: 3},
	}
}

// try has a writer write n messages in each context, and a reader read them.
func try(t interface{ Fatalf(string, ...any) }, w, r *resolve.Decl, n int, seed uint64) (all []observed) {
	rnd := writer{rand.New(rand.NewPCG(seed, 8))}
	rs := contexts(r)
	for i, wt := range contexts(w) {
		var o observed
		wNames, rNames := map[string]bool{}, map[string]bool{}
		names(wt, "", wNames)
		names(rs[i], "", rNames)
		for range n {
			b := rnd.encode(nil, wt)
			own, err := decode(wt, b)
			if err != nil {
				t.Fatalf("%s does not read its own message %x", wt, b)
			}
			got, err := decode(rs[i], b)
			switch {
			case err != nil:
				o.refused++
			case same(b, own, got, wNames, rNames):
				o.read++
			default:
				o.misread++
			}
		}
		all = append(all, o)
	}
	return all
}

// TestCellsOnTheWire holds each cell's verdict to what becomes of messages.
func TestCellsOnTheWire(t *testing.T) {
	for _, c := range compat.Cells {
		t.Run(c.Kind+"/"+c.Change, func(t *testing.T) {
			old, now := compiled(t, "old.bare", c.Old), compiled(t, "new.bare", c.New)
			if c.Change == "removed, and nothing has it" {
				return // nobody reads them
			}
			n := 1500
			if testing.Short() {
				n = 60 // enough to see what is worse than was said, not all that is bad
			}
			fits := func(said, got compat.Reach) bool { return said == got || testing.Short() && said < got }
			back, fwd := try(t, root(old), root(now), n, 1), try(t, root(now), root(old), n, 2)
			if got := reach(back); !fits(c.Verdict.NewReadsOld, got) && !(testing.Short() && !misread(back)) {
				t.Errorf("new reads old: %v, and was observed: %v %v", c.Verdict.NewReadsOld, got, back)
			}
			if got := reach(fwd); !fits(c.Verdict.OldReadsNew, got) && !(testing.Short() && !misread(fwd)) {
				t.Errorf("old reads new: %v, and was observed: %v %v", c.Verdict.OldReadsNew, got, fwd)
			}
		})
	}
}
