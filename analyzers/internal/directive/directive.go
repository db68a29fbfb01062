package directive

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Prefix is how a directive begins.
const Prefix = "//barewire:"

// The words.
const (
	Type      = "type"
	Residency = "residency"
	Access    = "access"
	NodeOf    = "node"
	Schema    = "schema"
	Effect    = "effect"
	Generated = "generated"
	Trust     = "trust"
	Ignore    = "ignore"
)

// What a type is.
const (
	Handle = "handle"
	Window = "window"
	Op     = "op"
	View   = "view"
	Remote = "remote"
	Place  = "place"
	Grant  = "grant"
	Queue  = "queue"
	Domain = "domain"

	Capability = "capability"
	Witness    = "witness"
)

// kinds, residencies and rights are the names that stand behind their words.
var (
	kinds       = []string{Handle, Window, Op, View, Remote, Place, Grant, Queue, Domain, Capability, Witness}
	residencies = []string{"cpu", "numa", "cxl", "cxl_shared", "gpu", "managed", "unified"}
	accesses    = []string{"unregistered", "local", "remote_read", "remote_write", "remote_read_write",
		"remote_atomic", "remote_read_atomic", "remote_write_atomic", "remote_read_write_atomic"}
)

// maxNode is beyond any node that Linux numbers: its kernels are built for 1024 at most (NODES_SHIFT).
const maxNode = 1 << 16

// Directive is one comment.
type Directive struct {
	Word    string
	Name    string   // the kind, residency, access, node, schema or code
	Hash    string   // of schema: 64 digits
	Clauses []Clause // of effect
	Reason  string   // of trust and ignore
}

// Parse reads the text of a comment. ok reports whether it is a directive; if it is one
// and wrong, err says what.
func Parse(text string) (d Directive, ok bool, err error) {
	rest, ok := strings.CutPrefix(text, Prefix)
	if !ok {
		return Directive{}, false, nil
	}
	word, arg, _ := strings.Cut(strings.TrimRight(rest, " \t\r"), " ")
	arg = strings.TrimSpace(arg)
	d.Word = word
	switch word {
	case Type:
		d.Name, err = one(word, arg, kinds)
	case Residency:
		d.Name, err = one(word, arg, residencies)
	case Access:
		d.Name, err = one(word, arg, accesses)
	case NodeOf:
		if n, bad := strconv.Atoi(arg); bad != nil || n < 0 || n > maxNode {
			err = fmt.Errorf("node wants the number of a NUMA node, from 0 to %d, and has %q", maxNode, arg)
		} else {
			d.Name = strconv.Itoa(n)
		}
	case Schema:
		d.Name, d.Hash, err = hashed(arg)
	case Effect:
		d.Clauses, err = clauses(arg)
	case Generated:
		if arg != "" {
			err = fmt.Errorf("generated stands alone, and has %q", arg)
		}
	case Trust:
		if d.Reason = arg; arg == "" {
			err = fmt.Errorf("trust has no reason: say why the effects cannot be inferred")
		}
	case Ignore:
		d.Name, d.Reason, err = ignored(arg)
	default:
		err = fmt.Errorf("unknown directive %q; there are type, residency, access, node, schema, effect, generated, trust, ignore", word)
	}
	return d, true, err
}

// one is a directive's only argument, which is one of several names.
func one(word, arg string, names []string) (string, error) {
	if !slices.Contains(names, arg) {
		return "", fmt.Errorf("unknown %s %q; there are %s", word, arg, strings.Join(names, ", "))
	}
	return arg, nil
}

// hashed is the argument of schema.
func hashed(arg string) (name, hash string, err error) {
	name, hash, ok := strings.Cut(arg, "@sha256:")
	if raw, bad := hex.DecodeString(hash); !ok || name == "" || strings.Contains(name, " ") || bad != nil || len(raw) != 32 {
		return "", "", fmt.Errorf("schema wants a name and a hash, as quote.Quote@sha256:6ed4…, with 64 hexadecimal digits, and has %q", arg)
	}
	return name, hash, nil
}

// ignored is the argument of ignore.
func ignored(arg string) (code, reason string, err error) {
	code, reason, _ = strings.Cut(arg, " ")
	reason = strings.TrimSpace(reason)
	if !isCode(code) {
		return "", "", fmt.Errorf("ignore wants a code, as BW5101, and has %q", code)
	}
	if reason == "" {
		return code, "", fmt.Errorf("ignore %s has no reason: say why the finding is none", code)
	}
	return code, reason, nil
}

func isCode(s string) bool {
	if len(s) != 6 || s[:2] != "BW" {
		return false
	}
	for _, c := range s[2:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
