//go:build amd64 || arm64

package opencl

import (
	_ "embed"
	"flag"
	"os"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/gputest"
)

//go:embed testdata/kernels.cl
var kernels []byte

var realGPU = flag.Bool("gpu", false, "run the suite on the GPUs of this machine; fail where there are none")

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

// TestGPU runs the suite on the GPUs that OpenCL has here, with -gpu.
func TestGPU(t *testing.T) {
	if !*realGPU {
		t.Skip("without -gpu nothing is run on GPUs")
	}
	const isGPU = 1 << 2 // CL_DEVICE_TYPE_GPU
	p, n := New(Options{}), 0
	infos, err := p.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range infos {
		for _, f := range d.Facts.Read {
			if f.Name == "CL_DEVICE_TYPE" && f.Value&isGPU != 0 {
				n++
				t.Run(d.Name, func(t *testing.T) {
					t.Logf("%s: %s, %+v", d.Model, d.State, d.Facts)
					gputest.Run(t, gputest.Factory{Provider: p, Device: d.Name, Module: kernels})
				})
			}
		}
	}
	if n == 0 {
		t.Skip("OpenCL has no GPU here: its driver is a package of its own, and CUDA does not need it")
	}
}
