//go:build !linux

package mempolicy

import (
	"fmt"
	"runtime"
	"unsafe"
)

// errOS is what all of it gives where there is no Linux.
var errOS = fmt.Errorf("%s: %w", runtime.GOOS, ErrNoNUMA)

func Allowed() (Set, error) { return Set{}, errOS }

func PolicyOf(unsafe.Pointer) (Mode, Set, error) { return 0, Set{}, errOS }

func Here() (cpu, node int, err error) { return -1, -1, errOS }

func Pages(unsafe.Pointer, uintptr) (map[int]int, error) { return nil, errOS }

func NodesOf([]unsafe.Pointer) ([]int32, error) { return nil, errOS }

func MoveEach([]unsafe.Pointer, []int32) error { return errOS }

func Strict(unsafe.Pointer, uintptr, int) error { return errOS }

func Spread(unsafe.Pointer, uintptr, ...int) error { return errOS }

func Prefer(unsafe.Pointer, uintptr, ...int) (weaker, err error) { return nil, errOS }

func Hold(unsafe.Pointer, uintptr, Mode, *Set) error { return errOS }

func Move(unsafe.Pointer, uintptr, *Set) error { return errOS }

func Ask(unsafe.Pointer, uintptr, Mode, *Set) error { return errOS }
