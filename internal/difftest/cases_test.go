package difftest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/internal/difftest/runner"
	"github.com/fidelityframework/barewire-gen/internal/schemagen"
)

// judged makes the case of a message from the reference's verdict on it.
func judged(typ string, t *schemagen.Type, msg []byte) runner.Case {
	c := runner.Case{Op: "ok", Type: typ, Msg: msg}
	v, n, err := schemagen.DecodePrefix(t, msg)
	switch {
	case err != nil:
		c.Op = "bad"
		return c
	case n < len(msg):
		c.Op = "long"
	}
	c.Canon, c.Dump = schemagen.Encode(t, v), schemagen.Dump(t, v)
	return c
}

// valueCases are n random values of each declaration.
func valueCases(pkg string, s *subject, n int) (cases []runner.Case) {
	for _, d := range s.schema.Decls {
		values := schemagen.Values(s.lang, d.Type)
		for k := range n {
			cases = append(cases, judged(pkg+"."+d.Name, d.Type, schemagen.Encode(d.Type, values.Example(s.seed+k))))
		}
	}
	return cases
}

// mutantCases damages each message n times. The damaged ones are also given as
// hostile, with their memory measured.
func mutantCases(pkg string, s *subject, valid []runner.Case, n int) (cases []runner.Case) {
	for i, c := range valid {
		d := declOf(s.schema, strings.TrimPrefix(c.Type, pkg+"."))
		for k := range n {
			msg := schemagen.Mutants(c.Msg).Example(s.seed + i*n + k)
			cases = append(cases, judged(c.Type, d.Type, msg))
			if k == 0 {
				cases = append(cases, runner.Case{Op: "hostile", Type: c.Type, Msg: msg})
			}
		}
	}
	return cases
}

// hostileCases are messages that ask for as much as they can with few bytes:
// counts that fit and counts that do not, elements that are all absent, empty
// or nested, noise.
func hostileCases(typ string) (cases []runner.Case) {
	fill := func(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }
	claim := func(n uint64, rest []byte) []byte { return append(binary.AppendUvarint(nil, n), rest...) }
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte(i * i >> 3)
	}
	for _, msg := range [][]byte{
		fill(0, 3000), fill(1, 3000), fill(2, 3000), fill(0xff, 3000), fill(0x80, 3000), noise,
		claim(2900, fill(0, 3000)), claim(2900, fill(1, 3000)), claim(1000, fill(1, 3000)), claim(3000, noise),
		claim(1<<20, fill(0, 100)), claim(1<<31, fill(0, 100)), claim(1<<32+8, fill(0, 100)), claim(1<<60, fill(0, 100)), claim(1<<63, fill(0, 100)),
		claim(1<<64-1, fill(0, 100)), bytes.Repeat([]byte{0xff, 0xff, 0xff, 0x07}, 500), bytes.Repeat([]byte{0xa0, 0x1f}, 1000),
	} {
		cases = append(cases, runner.Case{Op: "hostile", Type: typ, Msg: msg})
	}
	return cases
}

// contextOf gives the schema of a failed case's type, whose name starts with
// the number of its subject: pkg.S12Name.
func contextOf(all []*subject) func(line string) string {
	return func(line string) string {
		var i int
		_, rest, _ := strings.Cut(line, ".S")
		if _, err := fmt.Sscanf(rest, "%d", &i); err != nil || i >= len(all) {
			return ""
		}
		return "\nof the schema\n" + all[i].text
	}
}
