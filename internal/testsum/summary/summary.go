// Package summary makes of the events of go test -json what a person wants of them: the closing line of each
// package, the output of what failed, and what was skipped, with the reason.
package summary

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Event is one line of go test -json; see go doc test2json.
type Event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// Summary is what is known while events come in. It may be used by several goroutines.
type Summary struct {
	Hint string // what is said to a person who reads what was skipped

	mu      sync.Mutex
	w       io.Writer
	output  map[string][]string // what a test or a package has printed so far
	skipped []string
	passed  int
	failed  []string
}

// New returns one that writes to w as events come.
func New(w io.Writer) *Summary { return &Summary{w: w, output: map[string][]string{}} }

// Read takes all lines of r, to its end or its first error.
func (s *Summary) Read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		var e Event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil:
			// The go command's own words, such as a pattern that matches nothing.
			s.mu.Lock()
			fmt.Fprint(s.w, line)
			s.mu.Unlock()
		default:
			s.Add(e)
		}
		if err != nil {
			return
		}
	}
}

// Add takes one event.
func (s *Summary) Add(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		if e.Action == "build-output" {
			fmt.Fprint(s.w, e.Output)
			return
		}
		if e.Test == "" && isClosing(e.Output) {
			fmt.Fprint(s.w, e.Output)
			return
		}
		s.output[key] = append(s.output[key], e.Output)
	case "pass":
		if e.Test != "" {
			s.passed++
		}
		delete(s.output, key)
	case "fail":
		if !slices.Contains(s.failed, key) {
			s.failed = append(s.failed, key)
		}
		fmt.Fprint(s.w, strings.Join(s.output[key], ""))
		delete(s.output, key)
	case "skip":
		if e.Test != "" {
			s.skipped = append(s.skipped, fmt.Sprintf("%s: %s", key, reason(s.output[key])))
		}
		delete(s.output, key)
	}
}

// isClosing reports whether a line is how go test ends a package.
func isClosing(line string) bool {
	return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "FAIL\t") || strings.HasPrefix(line, "?   \t")
}

// reason is what a test said before it skipped itself: "file_test.go:12: why".
func reason(output []string) string {
	var why []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		why = append(why, line)
	}
	if len(why) == 0 {
		return "no reason given"
	}
	return strings.Join(why, " ")
}

// End writes what was skipped and how many passed and failed. It reports whether tests ran and none failed.
func (s *Summary) End() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, out := range s.output {
		// What belongs to a test that never ended: a crash.
		if slices.ContainsFunc(out, func(l string) bool { return strings.HasPrefix(l, "panic:") || strings.HasPrefix(l, "fatal error:") }) {
			fmt.Fprint(s.w, strings.Join(out, ""))
		}
	}
	if len(s.skipped) > 0 {
		fmt.Fprintf(s.w, "\nskipped%s:\n", s.Hint)
		for _, l := range s.skipped {
			fmt.Fprintf(s.w, "  %s\n", l)
		}
	}
	fmt.Fprintf(s.w, "\n%d passed, %d failed, %d skipped\n", s.passed, len(s.failed), len(s.skipped))
	for _, f := range s.failed {
		fmt.Fprintf(s.w, "  FAIL %s\n", f)
	}
	return len(s.failed) == 0 && s.passed > 0
}
