package bwlife

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// expects notes the calls of a function whose program asks which error they gave: by errors.Is or errors.As, by a
// comparison with an error that a package has as a variable, by a function that is given both, or in a test that fails where there was none. Whoever
// closes what may be closed already, and lets ErrReleased pass, makes no mistake.
func (a *analyzer) expects(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok || !givesError(call) {
				continue
			}
			if err := errorOf(call); err != nil && askedFor(err, 0) {
				a.expected[call.Pos()] = true
				a.refuses[call.Pos()] = handedWithSentinel(err)
			}
		}
	}
}

// refused reports whether a finding is about a call that gives an error instead of doing what it was to do.
func refused(code diag.Code) bool {
	switch code {
	case diag.UseAfterRelease, diag.DoubleRelease, diag.UseAfterMove, diag.WindowAfterClose, diag.ReleaseBorrowed, diag.ReleaseInFlight, diag.HostHas:
		return true
	}
	return false
}

// errorOf is the last result of a call, nil where nobody takes it.
func errorOf(call *ssa.Call) ssa.Value {
	n := call.Call.Signature().Results().Len()
	if n == 1 {
		return call
	}
	for _, ref := range *call.Referrers() {
		if x, ok := ref.(*ssa.Extract); ok && x.Index == n-1 {
			return x
		}
	}
	return nil
}

// askedFor reports whether a program wants to know which error it is. Variables that closures share are followed to where
// they are read in this function.
func askedFor(err ssa.Value, depth int) bool {
	if depth > 3 || err.Referrers() == nil {
		return false
	}
	for _, ref := range *err.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Call:
			if isErrorTest(ref) && len(ref.Call.Args) > 0 && ref.Call.Args[0] == err || givenSentinel(ref, err) {
				return true
			}
		case *ssa.BinOp:
			if isSentinel(ref.X) || isSentinel(ref.Y) || failsWithout(ref) {
				return true
			}
		case *ssa.Phi:
			if askedFor(ref, depth+1) {
				return true
			}
		case *ssa.Store:
			if v, ok := ref.Addr.(*ssa.Alloc); ok && ref.Val == err && askedForLater(ref, v, depth) {
				return true
			}
		}
	}
	return false
}

// givenSentinel reports whether a function is given an error beside one that a package has as a variable: it compares the two, as helpers of
// tests do.
func givenSentinel(call *ssa.Call, err ssa.Value) bool {
	return !isErrorTest(call) && slices.Contains(call.Call.Args, err) && slices.ContainsFunc(call.Call.Args, func(v ssa.Value) bool {
		return v != err && (isSentinel(v) || isContextError(v))
	})
}

// handedWithSentinel reports whether nobody but such a function gets to see an error: what the call was to do it was not to do, and whether it did is
// not known behind it.
func handedWithSentinel(err ssa.Value) bool {
	refs := err.Referrers()
	return len(*refs) == 1 && func() bool { call, ok := (*refs)[0].(*ssa.Call); return ok && givenSentinel(call, err) }()
}

// askedForLater looks at the reads of a variable behind a store in the same block: further on it may be another error.
func askedForLater(st *ssa.Store, v *ssa.Alloc, depth int) bool {
	behind := false
	for _, in := range st.Block().Instrs {
		switch in := in.(type) {
		case *ssa.Store:
			if behind && in.Addr == v {
				return false
			}
			behind = behind || in == st
		case *ssa.UnOp:
			if behind && in.Op == token.MUL && in.X == v && askedFor(in, depth+1) {
				return true
			}
		}
	}
	return false
}

// failsWithout reports whether a comparison with nil leads to where a test fails because there was no error.
func failsWithout(cmp *ssa.BinOp) bool {
	c, ok := cmp.Y.(*ssa.Const)
	if !ok || !c.IsNil() {
		return false
	}
	branch, ok := cmp.Block().Instrs[len(cmp.Block().Instrs)-1].(*ssa.If)
	if !ok || branch.Cond != cmp {
		return false
	}
	without := cmp.Block().Succs[0]
	if cmp.Op == token.NEQ {
		without = cmp.Block().Succs[1]
	}
	if len(without.Preds) != 1 {
		return false
	}
	for _, in := range without.Instrs {
		if call, ok := in.(ssa.CallInstruction); ok && failsTest(call.Common()) {
			return true
		}
	}
	return false
}

// failsTest reports whether a call is one of those methods of package testing that fail a test.
func failsTest(c *ssa.CallCommon) bool {
	f := c.Method
	if f == nil {
		f = callee(c)
	}
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != "testing" {
		return false
	}
	switch f.Name() {
	case "Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow":
		return true
	}
	return false
}
