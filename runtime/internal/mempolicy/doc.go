// Package mempolicy asks the kernel where memory is to lie, and where it lies: mbind(2), get_mempolicy(2), move_pages(2)
// and getcpu(2), by their numbers, since golang.org/x/sys has no functions for them and libnuma is C.
//
// Calls that ask for a place succeed without effect on pages that are there already, on memory of devices, and under
// emulators. So what counts here is where pages are when they have been touched.
package mempolicy

import "errors"

// What stands in the way of a placement, for errors.Is.
var (
	ErrNoNUMA    = errors.New("this system does not place memory at nodes")
	ErrForbidden = errors.New("this process may not place memory or threads (its seccomp profile, as a rule: that of a container without CAP_SYS_NICE)")
	ErrNoNode    = errors.New("no such node with memory for this process")
	ErrElsewhere = errors.New("pages lie at other nodes")
	ErrUntold    = errors.New("the system does not tell where pages lie")
)

// MaxNodes bounds the numbers of nodes: the kernel's largest configuration has 1024 (NODES_SHIFT 10).
const MaxNodes = 1024

// Mode is a memory policy. Source: the kernel's include/uapi/linux/mempolicy.h.
type Mode int

// The modes.
const (
	Default       Mode = 0
	Preferred     Mode = 1
	Bind          Mode = 2
	Interleave    Mode = 3
	Local         Mode = 4
	PreferredMany Mode = 5 // from Linux 5.15 on
)
