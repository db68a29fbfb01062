//go:build amd64 || arm64

package opencl

import (
	_ "embed"
	"os"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/gputest"
)

//go:embed testdata/kernels.cl
var kernels []byte

// device is the first device that can be used, which is PoCL's where there is no GPU.
func device(t testing.TB) (*Provider, gpu.DeviceInfo) {
	t.Helper()
	p := New(Options{})
	infos, err := p.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range infos {
		if d.State == gpu.StateReady {
			return p, d
		}
	}
	const need = "this needs OpenCL and a device (Debian: ocl-icd-libopencl1, pocl-opencl-icd): %s"
	if os.Getenv("CI") != "" {
		t.Fatalf(need, infos[0].State)
	}
	t.Skipf(need, infos[0].State)
	return nil, gpu.DeviceInfo{}
}

func TestConformance(t *testing.T) {
	p, d := device(t)
	gputest.Run(t, gputest.Factory{Provider: p, Device: d.Name, Module: kernels})
}
