package rdma_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadme: the whole program in README.md is the example, which runs.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	ok(t, err)
	example, err := os.ReadFile("example_test.go")
	ok(t, err)
	shown := regexp.MustCompile("(?s)```go\n(// owner has the memory.*?)```").FindSubmatch(readme)
	if shown == nil {
		t.Fatal("README.md shows no whole program")
	}
	if !strings.Contains(string(example), string(shown[1])) {
		t.Error("what README.md shows is not in example_test.go: copy owner and peer from there")
	}
}
