//go:build !linux

package machine

import "syscall"

// noOrphan is for systems where the lab says that it cannot run.
func noOrphan() *syscall.SysProcAttr { return nil }
