package difftest

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// bareTSFault is a place where bare-ts (tools 0.16.0, lib 0.6.0) is wrong.
type bareTSFault struct {
	id, what string
	schema   string // declares X; empty where the generator itself fails
	msg      string // decoded and encoded again
	js       string // or encoded
	wrong    string // what comes out: a message in hex, or part of an error
	crashes  string // a valid schema that it refuses or dies of
}

var bareTSFaults = []bareTSFault{
	{id: "T1", what: "text of 16384 bytes gets a wrong length", schema: "type X str",
		js: `"a".repeat(16384)`, wrong: hex.EncodeToString([]byte{0x80, 0x80, 0x01})},
	{id: "T1 data", what: "data of 20000 bytes gets a wrong length", schema: "type X data",
		js: `new ArrayBuffer(20000)`, wrong: "a0a001"},
	{id: "T2", what: "an optional in an optional loses that it is there", schema: "type X optional<optional<u8>>", msg: "0100", wrong: "00"},
	{id: "T3", what: "data as a map's key, which the draft allows since 13", crashes: "type X map<data><u8>"},
	{id: "T4", what: "the bits of a NaN change", schema: "type X f32", msg: "010080ff", wrong: "0100c0ff"},
	{id: "T5", what: "numbers over 53 bits", crashes: "type X enum { A = 9007199254740992 }"},
	{id: "T6", what: "snake_case fields, which the draft allows since 14", crashes: "type X struct { user_name: u8 }"},
}

// TestBareTSFaults shows that bare-ts is wrong where the table says so.
func TestBareTSFaults(t *testing.T) {
	in := make([]tsSchema, len(bareTSFaults))
	for i, f := range bareTSFaults {
		in[i] = tsSchema{Schema: f.schema + f.crashes, Cases: []tsCase{{Type: "X", Msg: f.msg, JS: f.js}}}
	}
	died := map[int]string{}
	results := bareTS(t, in, func(i int, why string) { died[i] = why })
	for i, f := range bareTSFaults {
		t.Run(f.id, func(t *testing.T) {
			if f.crashes != "" {
				if died[i] == "" {
					t.Errorf("not shown: %s", f.what)
				}
				return
			}
			got := fmt.Sprintf("%.16s %s", results[i][0].Hex, results[i][0].Error)
			if !strings.HasPrefix(got, f.wrong) {
				t.Errorf("not shown: %s: %s, want %s", f.what, got, f.wrong)
			}
		})
	}
}
