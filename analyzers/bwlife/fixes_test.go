package bwlife_test

import (
	"go/ast"
	"os"
	"strings"
	"testing"
)

// TestFixes: where nothing on any path closes a handle, a defer behind the error check does; elsewhere nothing is proposed.
func TestFixes(t *testing.T) {
	actions, err := corpus()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, act := range actions {
		for _, d := range act.Diagnostics {
			for _, f := range d.SuggestedFixes {
				e := f.TextEdits[0]
				at := act.Package.Fset.Position(e.Pos)
				text, err := os.ReadFile(at.Filename)
				if err != nil {
					t.Fatal(err)
				}
				if before := text[:at.Offset]; !strings.HasSuffix(string(before), "\n\t}") && !strings.HasSuffix(string(before), "\n\t\t}") {
					t.Errorf("%s: the fix does not stand behind the error check", at)
				}
				for _, file := range act.Package.Syntax {
					for _, decl := range file.Decls {
						if fn, ok := decl.(*ast.FuncDecl); ok && fn.Pos() <= e.Pos && e.Pos < fn.End() {
							got[fn.Name.Name] = strings.TrimSpace(string(e.NewText))
						}
					}
				}
			}
		}
	}
	for name, want := range map[string]string{
		"BadWindowLeak":        "defer w.Close()",
		"BadSiblingLeak":       "defer s.Close()",
		"BadTestLeak":          "", // it does not return, but fails the test
		"BadWindowEarlyReturn": "", // it is closed on another path
		"BadRegisterFails":     "",
		"BadNewCache":          "", // it is given away on another path
	} {
		if got[name] != want {
			t.Errorf("%s: proposed %q, want %q", name, got[name], want)
		}
	}
	if len(got) < 5 {
		t.Errorf("only %d fixes: %v", len(got), got)
	}
}
