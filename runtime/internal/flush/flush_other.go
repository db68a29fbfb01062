//go:build purego || (!amd64 && !(arm64 && linux))

package flush

import "unsafe"

func detect() how { return none }

func clean(unsafe.Pointer, uintptr) {}

func drop(unsafe.Pointer, uintptr) {}
