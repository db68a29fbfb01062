package difftest

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
	"github.com/fidelityframework/barewire-gen/internal/schemagen"
)

// goBarePeer is linked into the program: go-bare's decoder and encoder over its
// own generated types.
const goBarePeer = `package main

import "git.sr.ht/~sircmpwn/go-bare"

func goBare[T any](b []byte) ([]byte, error) {
	v := new(T)
	if err := bare.Unmarshal(b, v); err != nil {
		return nil, err
	}
	return bare.Marshal(v)
}
`

// TestAgainstGoBare gives random values to go-bare's generated code, and what
// that writes to ours.
func TestAgainstGoBare(t *testing.T) { rounds(t, testAgainstGoBare) }

func testAgainstGoBare(t *testing.T, seed int) {
	lang := schemagen.GoBare()
	all := subjects(seed, schemas(50), lang, func(int) schemagen.Dialect { return schemagen.Old }, true)
	g := newGoBareGen(t)
	p := newProgram(t)
	for i, s := range all {
		theirs := fmt.Sprintf("gobare%d", i)
		if out, err := (&goBareGen{p.m, g.bin}).run(theirs, theirs, s.text+goBareImports); err != nil {
			t.Fatalf("go-bare's generator: %v\n%s\n%s", err, out, s.text)
		}
		p.imports = append(p.imports, importOf(theirs))
	}
	p.m.Write("peer.go", []byte(goBarePeer))
	p.addSubjects(t, all, func(typ string) string {
		var i int
		if _, err := fmt.Sscanf(typ, "S%d", &i); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("goBare[gobare%d.%s]", i, typ)
	})
	var cases []runner.Case
	for i, s := range all {
		cases = append(cases, valueCases(packageOf(i), s, 20)...)
	}
	run(t, p.build(t), nil, cases, contextOf(all))
	t.Logf("%d schemas, %d messages", len(all), len(cases))
}

// goBareImports keeps a schema of enums alone from failing to build (G19).
const goBareImports = "\ntype KeepsTheImport u8\n"

// TestAgainstBareTS gives what bare-ts writes for random values to generated
// code, which must write what the reference does, which bare-ts reads in
// TestReferenceAgainstBareTS.
func TestAgainstBareTS(t *testing.T) { rounds(t, testAgainstBareTS) }

func testAgainstBareTS(t *testing.T, seed int) {
	needBareTS(t)
	all := subjects(seed, schemas(60), schemagen.BareTS(true), anyDialect, false)
	in := make([]tsSchema, len(all))
	for i, s := range all {
		in[i] = tsSchema{Schema: s.text, Legacy: true, Cases: []tsCase{}}
		for _, d := range s.schema.Decls {
			for k := 0; k < 10 && !d.Type.IsVoid(); k++ {
				v := schemagen.Values(s.lang, d.Type).Example(s.seed + k)
				in[i].Cases = append(in[i].Cases, tsCase{Type: d.Name, JS: jsValue(d.Type, v)})
			}
		}
	}
	p := newProgram(t)
	p.addSubjects(t, all, nil)
	var cases []runner.Case
	for i, results := range bareTS(t, in, nil) {
		for k, r := range results {
			d := declOf(all[i].schema, in[i].Cases[k].Type)
			msg, err := hex.DecodeString(r.Hex)
			if err != nil || r.Error != "" {
				t.Fatalf("bare-ts on %s: %s", in[i].Cases[k].JS, r.Error)
			}
			cases = append(cases, judged(packageOf(i)+"."+d.Name, d.Type, msg))
		}
	}
	run(t, p.build(t), nil, cases, contextOf(all))
	t.Logf("%d schemas, %d messages", len(all), len(cases))
}
