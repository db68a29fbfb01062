package rdma_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadme: the programs in README.md are examples, which run.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	ok(t, err)
	for begins, file := range map[string]string{
		"// owner has the memory":     "example_test.go",
		"// betweenHosts is for peer": "example_hosts_test.go",
	} {
		example, err := os.ReadFile(file)
		ok(t, err)
		shown := regexp.MustCompile("(?s)```go\n(" + begins + ".*?)```").FindSubmatch(readme)
		if shown == nil {
			t.Fatalf("README.md does not show what begins %q", begins)
		}
		if !strings.Contains(string(example), string(shown[1])) {
			t.Errorf("what README.md shows after %q is not in %s: copy it from there", begins, file)
		}
	}
}
