package gpu

import "github.com/fidelityframework/barewire-gen/runtime/platform"

// Detected has the kernel's files be those of another machine, until undo is called.
func Detected(m *platform.Machine) (undo func()) {
	old := machine
	machine = func() *platform.Machine { return m }
	return func() { machine = old }
}
