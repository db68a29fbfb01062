package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargeDump: a dump may be larger than what is ever held, as a file and from a pipe.
func TestLargeDump(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a file of 3 GiB, if without blocks, and reads as much from a pipe")
	}
	dir := t.TempDir()
	schema, dump := filepath.Join(dir, "t.bare"), filepath.Join(dir, "dump")
	const size, stride = 3 << 30, 16
	if err := os.WriteFile(schema, []byte("type T struct { a: u64 b: i64 }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(dump)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{7}, size-stride); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("no file of that size here: %v", err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	const elements, last = "--count=201326592", "--element=201326591"
	for _, c := range []struct {
		name, input string
		in          io.Reader
		want        string
	}{
		{"file", dump, nil, "\"value\": {\n  \"a\": 7,"},
		{"pipe", "-", io.LimitReader(zeros{}, size), "\"value\": {\n  \"a\": 0,"},
	} {
		var out, errs bytes.Buffer
		code := Main(context.Background(), []string{"inspect", elements, last, "--to=json", schema, "T", c.input}, Stdio{In: c.in, Out: &out, Err: &errs})
		if code != 0 || errs.Len() > 0 || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %d\n%s%s", c.name, code, &out, &errs)
		}
	}
}

// zeros has as many as anybody reads.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
