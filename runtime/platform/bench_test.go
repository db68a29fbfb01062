package platform_test

import (
	"context"
	"os"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/machines"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

func BenchmarkDetect(b *testing.B) {
	for _, name := range []string{"256ia64-64n2s2c", "cxl-stageB-sysram", "nri-sample2-4dram4pmem"} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			if err := machines.Unpack(name, dir); err != nil {
				b.Fatal(err)
			}
			fsys := os.DirFS(dir)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := platform.DetectFS(context.Background(), fsys); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
