package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// lockedBuffer is written by the command and read by the test.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

// TestWatch: what changes is generated, errors are shown and do not end it, files come
// and go, and an interruption is its end.
func TestWatch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "telemetry")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := &lockedBuffer{}
	wait := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(4 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s did not happen\n%s", what, out.text())
			}
		}
	}
	has := func(name, words string) func() bool {
		return func() bool {
			b, err := os.ReadFile(filepath.Join(dir, name))
			return err == nil && strings.Contains(string(b), words)
		}
	}
	write("a.bare", "type First u8\n")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan int, 1)
	go func() {
		ended <- Main(ctx, []string{"-C", filepath.Dir(dir), "generate", "--watch", "telemetry"}, Stdio{In: strings.NewReader(""), Out: out, Err: out})
	}()
	wait("the first run", has("a_bare.go", "type First uint8"))
	write("a.bare", "type Second u8\n")
	wait("a change", has("a_bare.go", "type Second uint8"))
	write("a.bare", "type Second Missing\n")
	wait("an error", func() bool {
		return strings.Contains(out.text(), "`Missing` is not declared") && strings.Contains(out.text(), "waiting for a change")
	})
	if !has("a_bare.go", "type Second uint8")() {
		t.Error("an error changed what is generated")
	}
	write("a.bare", "type Third u8\n")
	wait("the way out of an error", has("a_bare.go", "type Third uint8"))
	write("b.bare", "type Fourth Third\n")
	wait("a new file", has("b_bare.go", "Fourth"))
	if err := os.Remove(filepath.Join(dir, "a.bare")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "b.bare")); err != nil {
		t.Fatal(err)
	}
	wait("that all are gone", func() bool { return strings.Contains(out.text(), "no .bare files") })
	write("c.bare", "type Fifth u8\n")
	wait("one that comes back", has("c_bare.go", "Fifth"))
	cancel()
	if code := <-ended; code != exitClean {
		t.Errorf("ended with %d\n%s", code, out.text())
	}
}
