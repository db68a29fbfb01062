package machine

import "syscall"

// noOrphan has a process end with the thread that starts it.
func noOrphan() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
