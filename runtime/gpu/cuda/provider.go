package cuda

import "github.com/fidelityframework/barewire-gen/runtime/gpu"

// Options say how CUDA is reached.
type Options struct {
	// Library is the name or path of the driver's library. Empty: libcuda.so.1.
	Library string
}

// Provider has the devices of a driver.
type Provider struct{ opts Options }

// New is a provider with options. The one without is in use already.
func New(opts Options) *Provider { return &Provider{opts} }

// Name is "cuda".
func (p *Provider) Name() string { return "cuda" }

func init() { gpu.Use(New(Options{})) }
