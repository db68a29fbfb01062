package main

import (
	"os"
	"strings"
	"testing"
)

// TestRun: each thing that is asked for is answered, with memory or with a reason, on any machine.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	for _, asked := range []string{"barewire.New, cpu  ", "numa.Local, numa  ", "numa.New(1), numa  ", "numa.New(1), numa or unified  ", "cxl.New, cxl  ", "cxl.New, cxl or unified  ", "cxl.Share, cxl_shared  "} {
		_, got, ok := strings.Cut(out.String(), asked)
		got, _, _ = strings.Cut(strings.TrimSpace(got), "\n")
		if !ok || !strings.Contains(got, " memory at ") && !strings.HasPrefix(got, "nothing: ") && !strings.HasPrefix(got, "beat 1, ") {
			t.Errorf("%s: %q", asked, got)
		}
		if strings.HasPrefix(got, "nothing: ") && strings.Contains(asked, "unified") {
			t.Errorf("%s has a fallback: %q", asked, got)
		}
	}
	if _, _, none := strings.Cut(out.String(), "\nno GPU: "); none {
		if os.Getenv("CI") != "" {
			t.Error("there is no GPU, and PoCL would be one")
		}
		return
	}
	for asked, kind := range map[string]string{"gpu.New, gpu  ": "device", "gpu.NewHost, cpu  ": "pinned host", "gpu.NewManaged, managed  ": "managed", "gpu.NewUnified, unified  ": "unified"} {
		_, got, _ := strings.Cut(out.String(), asked)
		got, _, _ = strings.Cut(strings.TrimSpace(got), "\n")
		if !strings.HasPrefix(got, "1024 KiB of "+kind+" memory: ") && !strings.HasPrefix(got, "nothing: gpu: ") || got[0] == 'n' && kind == "device" {
			t.Errorf("%s: %q", asked, got)
		}
	}
}
