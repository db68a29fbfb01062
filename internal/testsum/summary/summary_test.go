package summary

import (
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	const pass = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:5: no node here\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`
	const fail = `{"Action":"output","Package":"q","Test":"TestC","Output":"    c_test.go:9: wrong\n"}
{"Action":"fail","Package":"q","Test":"TestC"}
{"Action":"output","Package":"q","Output":"FAIL\tq\t0.1s\n"}
{"Action":"fail","Package":"q"}
`
	for _, c := range []struct {
		name, in string
		ok       bool
		want     []string
		never    string
	}{
		{"pass", pass, true, []string{"ok  \tp\t0.1s\n", "p TestB: b_test.go:5: no node here", "1 passed, 0 failed, 1 skipped"}, "chatter"},
		{"fail", pass + fail, false, []string{"c_test.go:9: wrong", "FAIL\tq\t0.1s", "FAIL q TestC"}, "chatter"},
		{"build", `{"Action":"build-output","ImportPath":"q","Output":"x.go:1:1: no\n"}` + "\n" + `{"Action":"fail","Package":"q"}`, false, []string{"x.go:1:1: no"}, ""},
		{"nothing ran", "go: no packages\n", false, []string{"go: no packages", "0 passed"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			s := New(&out)
			s.Read(strings.NewReader(c.in))
			if ok := s.End(); ok != c.ok {
				t.Errorf("fine: %v, want %v", ok, c.ok)
			}
			for _, w := range c.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("does not say %q:\n%s", w, out.String())
				}
			}
			if c.never != "" && strings.Contains(out.String(), c.never) {
				t.Errorf("says %q:\n%s", c.never, out.String())
			}
		})
	}
}
