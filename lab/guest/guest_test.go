//go:build lab && linux

package guest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sys reads an attribute of sysfs.
func sys(t testing.TB, path ...string) string {
	t.Helper()
	return strings.TrimSpace(string(must(os.ReadFile(filepath.Join("/sys", filepath.Join(path...))))(t)))
}

func sysInt(t testing.TB, path ...string) int {
	t.Helper()
	return must(strconv.Atoi(sys(t, path...)))(t)
}

// want compares an attribute.
func want(t testing.TB, value string, path ...string) {
	t.Helper()
	if got := sys(t, path...); got != value {
		t.Errorf("%s is %q, want %q", filepath.Join(path...), got, value)
	}
}

// tool runs a program, wants it to end well, and returns what it said.
func tool(t testing.TB, line string) string {
	t.Helper()
	words := strings.Fields(line)
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// soon waits for something that takes a guest a moment, and says what it was if it does not come.
func soon(t testing.TB, what string, ready func() error) {
	t.Helper()
	var err error
	for range 600 {
		if err = ready(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s: %v", what, err)
}

// there wants a file.
func there(path string) func() error {
	return func() error { _, err := os.Stat(path); return err }
}

// between runs a program that waits for a client of its own kind, which runs then. Both have to end well.
func between(t testing.TB, server, client string) (said string) {
	t.Helper()
	words := strings.Fields(server)
	cmd := exec.Command(words[0], words[1:]...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	ok(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	words = strings.Fields(client)
	soon(t, client, func() error {
		b, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		if said = string(b); err != nil {
			return fmt.Errorf("%w: %s", err, b) // the server does not listen yet
		}
		return nil
	})
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", server, err, out.String())
	}
	return said
}
