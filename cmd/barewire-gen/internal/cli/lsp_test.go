package cli

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"
)

// TestLSPInterrupted: a signal ends the server as a session that the editor did not end.
func TestLSPInterrupted(t *testing.T) {
	in, silent := io.Pipe()
	defer silent.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	var out, errs bytes.Buffer
	if code := Main(ctx, []string{"lsp"}, Stdio{In: in, Out: &out, Err: &errs}); code != exitFindings || errs.String() != "barewire-gen: interrupted\n" {
		t.Errorf("%d: %s", code, &errs)
	}
}
