package opencl

import "github.com/fidelityframework/barewire-gen/runtime/gpu"

// Options say how OpenCL is reached.
type Options struct {
	// Library is the name or path of the ICD loader. Empty: libOpenCL.so.1.
	Library string
}

// Provider has the devices of a library.
type Provider struct{ opts Options }

// New is a provider with options. The one without is in use already.
func New(opts Options) *Provider { return &Provider{opts} }

// Name is "opencl".
func (p *Provider) Name() string { return "opencl" }

func init() { gpu.Use(New(Options{})) }
