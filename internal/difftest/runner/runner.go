// Package runner is the half of the differential tests that is linked with
// generated code. A scratch program registers its types and calls Main, which
// reads cases, puts each through every way to decode and encode, and prints
// what went wrong. What is right comes with the case, from the reference.
package runner

import (
	"bufio"
	"encoding"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// Message is what generated code offers for a type.
type Message interface {
	encoding.BinaryMarshaler
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
	BinarySize() int
	DecodeBinary(b []byte, o wire.Options) (int, error)
	DecodeStream(r *wire.Reader) error
}

// Type is one generated type under test.
type Type struct {
	Name string // package.Type
	New  func() Message
	// View checks a message in place, as strictly as UnmarshalBinary does, and
	// gives the view; nil where the type has none.
	View func(b []byte) (any, error)
	// Peer decodes a message with another implementation's code for the same
	// type and encodes it again; nil where there is none.
	Peer func(b []byte) ([]byte, error)

	// Over casts memory to a *T, Slot puts a value into a slot and loads it
	// again; nil where the type's class does not allow it.
	Over func(b []byte) (any, error)
	Slot func(m Message) (Message, error)

	last Message // decoded before; the destination of decodings that reuse
}

// Case is one message for one type.
type Case struct {
	Op   string // "ok": valid; "bad": to be refused; "long": valid with bytes behind it; "hostile": any answer, but bounded
	Type string
	Msg  []byte
	// Canon is the message with sorted keys and zero padding, Dump its value as
	// text; of "ok" and "long" only.
	Canon []byte
	Dump  string
}

// String is the line that Main reads.
func (c Case) String() string {
	return strings.Join([]string{c.Op, c.Type, hex.EncodeToString(c.Msg), hex.EncodeToString(c.Canon), c.Dump}, "\t")
}

func parseCase(line string) (c Case, err error) {
	f := strings.Split(line, "\t")
	if len(f) != 5 {
		return c, fmt.Errorf("a case has 5 parts, this line %d", len(f))
	}
	c = Case{Op: f[0], Type: f[1], Dump: f[4]}
	if c.Msg, err = hex.DecodeString(f[2]); err == nil {
		c.Canon, err = hex.DecodeString(f[3])
	}
	return c, err
}

// hang is how long a case may take. Messages are small; a decoder that takes
// longer loops.
const hang = 30 * time.Second

// Main runs the cases on standard input and prints "FAIL case: reason" for each
// that fails, then "DONE n". A program that dies before that says nothing of the kind.
func Main(types ...*Type) {
	byName := map[string]*Type{}
	for _, t := range types {
		byName[t.Name] = t
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for n := 0; ; n++ {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			fmt.Fprintln(out, "DONE", n)
			return
		}
		line = strings.TrimSuffix(line, "\n")
		c, err := parseCase(line)
		if err == nil {
			err = c.run(byName[c.Type])
		}
		if err != nil {
			fmt.Fprintf(out, "FAIL %s\t%v\n", line, strings.ReplaceAll(err.Error(), "\n", "\n     "))
			out.Flush()
		}
	}
}

// run checks one case. A panic is a finding like any other; a hang ends the program.
func (c Case) run(t *Type) (err error) {
	if t == nil {
		return fmt.Errorf("no type %s in this program", c.Type)
	}
	watch := time.AfterFunc(hang, func() {
		fmt.Printf("FAIL %s\thangs\n", c)
		os.Exit(3)
	})
	defer watch.Stop()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	switch c.Op {
	case "ok":
		return c.valid(t)
	case "bad":
		return c.refused(t)
	case "long":
		return c.long(t)
	case "hostile":
		return c.hostile(t)
	}
	return fmt.Errorf("no operation %q", c.Op)
}
