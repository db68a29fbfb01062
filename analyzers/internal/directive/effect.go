package directive

import (
	"fmt"
	"slices"
	"strings"
)

// Verb is what happens to a parameter, or what a result is.
type Verb string

// The verbs.
const (
	Looks    Verb = "looks"
	Uses     Verb = "uses"
	Releases Verb = "releases"
	Moves    Verb = "moves"
	Waits    Verb = "waits"
	Flushes  Verb = "flushes"
	Keeps    Verb = "keeps"
	Fresh    Verb = "fresh"
	Borrows  Verb = "borrows"
	Starts   Verb = "starts"
	Views    Verb = "views"
	Alias    Verb = "alias"
	Lends    Verb = "lends"
	Fills    Verb = "fills"
	Counts   Verb = "counts"
	Reads    Verb = "reads"
	Writes   Verb = "writes"
	Hears    Verb = "hears"
	Ends     Verb = "ends"
	Within   Verb = "within"
	Meets    Verb = "meets"
	Acquires Verb = "acquires"
	Yields   Verb = "yields"
	Needs    Verb = "needs"
	Cleans   Verb = "cleans"
	Hands    Verb = "hands"
	Node     Verb = "node"
	Refers   Verb = "refers"
	Places   Verb = "places"
	Pins     Verb = "pins"
	Runs     Verb = "runs"
	Migrates Verb = "migrates"
	Address  Verb = "address"
	Narrows  Verb = "narrows"
	Names    Verb = "names"
	Carves   Verb = "carves"
	Optional Verb = "optional"
	Maps     Verb = "maps"
	Excludes Verb = "excludes"
	Tells    Verb = "tells"
)

// verbs has, for each verb, whether "of" must follow.
var verbs = map[Verb]bool{
	Looks: false, Uses: false, Releases: false, Moves: false, Waits: false, Flushes: false, Keeps: false, Fresh: false,
	Reads: false, Writes: false, Hears: false, Acquires: false, Yields: false, Needs: false, Cleans: false, Hands: false, Pins: false, Migrates: false, Places: false, Names: false, Optional: false, Excludes: false, Tells: false,
	Borrows: true, Starts: true, Views: true, Alias: true, Lends: true, Fills: true, Counts: true, Ends: true, Within: true, Node: true, Refers: true, Meets: true, Runs: true, Address: true, Narrows: true, Carves: true, Maps: true,
}

// The conditions. The empty one is always.
const (
	Always  = ""
	OnOK    = "ok"
	OnFail  = "fail"
	OnTrue  = "true"
	OnFalse = "false"
)

var conditions = []string{OnOK, OnFail, OnTrue, OnFalse}

// All stands for all elements.
const All = "all"

// Clause is one effect of a call.
type Clause struct {
	Verb  Verb
	What  string // the name of a parameter, or the number of a result
	Of    string // the name of a parameter
	At    string // of views: the parameter that is the number of the first element, or All
	Count string // and the one that is how many there are
	On    string
}

// String writes the clause as it is read.
func (c Clause) String() string {
	s := string(c.Verb) + "=" + c.What
	if c.Of != "" {
		s += " of " + c.Of
	}
	if c.At != "" {
		s += " at " + c.At
	}
	if c.Count != "" {
		s += " count " + c.Count
	}
	if c.On != Always {
		s += " on " + c.On
	}
	return s
}

// clauses reads the argument of effect.
func clauses(arg string) (list []Clause, err error) {
	if arg == "" {
		return nil, fmt.Errorf("effect says nothing; it wants clauses, as uses=r")
	}
	for text := range strings.SplitSeq(arg, ",") {
		c, err := clause(strings.Fields(text))
		if err != nil {
			return nil, err
		}
		if slices.Contains(list, c) {
			return nil, fmt.Errorf("effect %s stands here twice", c)
		}
		list = append(list, c)
	}
	return list, nil
}

func clause(words []string) (c Clause, err error) {
	if len(words) == 0 {
		return c, fmt.Errorf("an effect is empty: a comma too many")
	}
	verb, what, ok := strings.Cut(words[0], "=")
	c.Verb, c.What = Verb(verb), what
	wantsOf, known := verbs[c.Verb]
	switch {
	case !known:
		return c, fmt.Errorf("unknown effect %q; there are %s", verb, allVerbs())
	case !ok || what == "":
		return c, fmt.Errorf("effect %s wants =, and a parameter's name or a result's number", verb)
	}
	for words = words[1:]; len(words) > 0; words = words[2:] {
		if len(words) == 1 {
			return c, fmt.Errorf("effect %s: nothing behind %q", c, words[0])
		}
		switch {
		case words[0] == "of" && c.Of == "" && c.At == "" && c.On == "":
			c.Of = words[1]
		case words[0] == "at" && slices.Contains([]Verb{Views, Starts, Fills, Refers}, c.Verb) && c.At == "" && c.On == "":
			c.At = words[1]
		case words[0] == "count" && c.At != "" && c.At != All && c.Count == "" && c.On == "":
			c.Count = words[1]
		case words[0] == "on" && c.On == "" && slices.Contains(conditions, words[1]):
			c.On = words[1]
		case words[0] == "on" && c.On == "":
			return c, fmt.Errorf("effect %s: unknown condition %q; there are %s", c, words[1], strings.Join(conditions, ", "))
		default:
			return c, fmt.Errorf("effect %s: %q has no place here", c, words[0])
		}
	}
	if wantsOf != (c.Of != "") {
		if wantsOf {
			return c, fmt.Errorf("effect %s wants of, and a parameter's name", c)
		}
		return c, fmt.Errorf("effect %s takes no of", c)
	}
	return c, nil
}

func allVerbs() string {
	var names []string
	for v := range verbs {
		names = append(names, string(v))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
