package directive

import (
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	sum := strings.Repeat("0f", 32)
	for text, want := range map[string]Directive{
		"//barewire:type handle":                  {Word: Type, Name: Handle},
		"//barewire:type  op ":                    {Word: Type, Name: Op},
		"//barewire:residency cxl_shared":         {Word: Residency, Name: "cxl_shared"},
		"//barewire:access remote_read_atomic":    {Word: Access, Name: "remote_read_atomic"},
		"//barewire:node 12":                      {Word: NodeOf, Name: "12"},
		"//barewire:type place":                   {Word: Type, Name: Place},
		"//barewire:schema q.Quote@sha256:" + sum: {Word: Schema, Name: "q.Quote", Hash: sum},
		"//barewire:type witness":                 {Word: Type, Name: Witness},
		"//barewire:effect optional=p, carves=0 of p on ok": {Word: Effect, Clauses: []Clause{
			{Verb: Optional, What: "p"}, {Verb: Carves, What: "0", Of: "p", On: OnOK}}},
		"//barewire:type capability": {Word: Type, Name: Capability},
		"//barewire:effect uses=r, address=0 of r, names=n": {Word: Effect, Clauses: []Clause{
			{Verb: Uses, What: "r"}, {Verb: Address, What: "0", Of: "r"}, {Verb: Names, What: "n"}}},
		"//barewire:generated":                 {Word: Generated},
		"//barewire:trust it is C":             {Word: Trust, Reason: "it is C"},
		"//barewire:ignore BW5101 tests do so": {Word: Ignore, Name: "BW5101", Reason: "tests do so"},
		"//barewire:effect uses=r":             {Word: Effect, Clauses: []Clause{{Verb: Uses, What: "r"}}},
		"//barewire:effect moves=r on ok, fresh=0 on ok": {Word: Effect, Clauses: []Clause{
			{Verb: Moves, What: "r", On: OnOK}, {Verb: Fresh, What: "0", On: OnOK}}},
		"//barewire:effect views=0 of r at i count n on ok, fills=1 of r": {Word: Effect, Clauses: []Clause{
			{Verb: Views, What: "0", Of: "r", At: "i", Count: "n", On: OnOK}, {Verb: Fills, What: "1", Of: "r"}}},
		"//barewire:effect starts=0 of dst on ok,uses=src": {Word: Effect, Clauses: []Clause{
			{Verb: Starts, What: "0", Of: "dst", On: OnOK}, {Verb: Uses, What: "src"}}},
	} {
		got, ok, err := Parse(text)
		if !ok || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, %v; want %+v", text, got, ok, err, want)
		}
	}
	for _, text := range []string{"", "// barewire:type handle", "//go:noinline", "/*barewire:type handle*/"} {
		if _, ok, err := Parse(text); ok || err != nil {
			t.Errorf("%q is taken for a directive (%v)", text, err)
		}
	}
}

// TestWrong has each kind of slip: none may be taken silently.
func TestWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   `unknown directive ""`,
		"typ handle":                         `unknown directive "typ"`,
		"type":                               `unknown type ""`,
		"type handel":                        `unknown type "handel"; there are handle, window`,
		"residency ram":                      `unknown residency "ram"`,
		"node":                               `node wants the number of a NUMA node, from 0 to 65536, and has ""`,
		"node -1":                            `node wants the number`,
		"effect runs=f":                      "wants of",
		"access all":                         `unknown access "all"`,
		"generated code":                     `generated stands alone, and has "code"`,
		"trust":                              "trust has no reason",
		"ignore":                             "ignore wants a code",
		"ignore all of it":                   `ignore wants a code, as BW5101, and has "all"`,
		"ignore BW5101":                      "ignore BW5101 has no reason",
		"effect":                             "effect says nothing",
		"effect use=r":                       `unknown effect "use"; there are acquires, address, alias`,
		"effect uses":                        "effect uses wants =",
		"effect uses=":                       "effect uses wants =",
		"effect uses=r,":                     "a comma too many",
		"effect uses=r on":                   `nothing behind "on"`,
		"effect uses=r on monday":            `unknown condition "monday"`,
		"effect uses=r of x":                 "takes no of",
		"effect borrows=0":                   "wants of",
		"effect borrows=0 on ok of r":        `"of" has no place here`,
		"effect uses=r, uses=r":              "uses=r stands here twice",
		"effect borrows=0 of r at i":         `"at" has no place here`,
		"effect views=0 of r count n":        `"count" has no place here`,
		"effect views=0 of r at all count n": `"count" has no place here`,
		"effect borrows=0 of r and of x":     `"and" has no place here`,
		"schema":                             `schema wants a name and a hash`,
		"schema q.Quote":                     `schema wants a name and a hash`,
		"schema q.Quote@sha256:00":           `schema wants a name and a hash`,
		"schema @sha256:" + strings.Repeat("00", 32):    `schema wants a name and a hash`,
		"schema a b@sha256:" + strings.Repeat("00", 32): `schema wants a name and a hash`,
		"schema q@sha256:" + strings.Repeat("0x", 32):   `schema wants a name and a hash`,
		"effect names=n of r":                           "takes no of",
		"effect address=0":                              "wants of",
	} {
		_, ok, err := Parse(Prefix + text)
		if !ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, ok, err, want)
		}
	}
}

// FuzzParse: no comment makes Parse panic, and an effect that is taken is read again as it is written.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"type handle", "effect moves=r on ok, fresh=0", "effect lends=f of r", "ignore BW5101 why", "trust x"} {
		f.Add(Prefix + s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok, err := Parse(text)
		if !ok || err != nil || d.Word != Effect {
			return
		}
		var parts []string
		for _, c := range d.Clauses {
			parts = append(parts, c.String())
		}
		again, _, err := Parse(Prefix + Effect + " " + strings.Join(parts, ", "))
		if err != nil || !reflect.DeepEqual(again, d) {
			t.Fatalf("%q: %+v, read again %+v (%v)", text, d, again, err)
		}
	})
}
