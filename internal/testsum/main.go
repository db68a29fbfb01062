// Testsum reads go test -json and prints what a person wants of it: the closing
// line of each package, the output of what failed, and what was skipped, with
// the reason.
//
//	go test -json ./... | go run ./internal/testsum
//
// It ends with 1 if a test failed or none ran.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

func main() {
	if !summarize(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// summary is what is known while events come in.
type summary struct {
	w       io.Writer
	output  map[string][]string // what a test or a package has printed so far
	skipped []string
	passed  int
	failed  []string
}

// summarize reports whether tests ran and none failed.
func summarize(r io.Reader, w io.Writer) bool {
	s := &summary{w: w, output: map[string][]string{}}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil:
			// The go command's own words, such as a pattern that matches nothing.
			fmt.Fprint(w, line)
		default:
			s.event(e)
		}
		if err != nil {
			break
		}
	}
	return s.end()
}

func (s *summary) event(e event) {
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
		s.failed = append(s.failed, key)
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

func (s *summary) end() bool {
	for _, out := range s.output {
		// What belongs to a test that never ended: a crash.
		if slices.ContainsFunc(out, func(l string) bool { return strings.HasPrefix(l, "panic:") || strings.HasPrefix(l, "fatal error:") }) {
			fmt.Fprint(s.w, strings.Join(out, ""))
		}
	}
	if len(s.skipped) > 0 {
		fmt.Fprintf(s.w, "\nskipped (make deps installs what is missing):\n")
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
