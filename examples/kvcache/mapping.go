package main

import (
	"fmt"
	"os"
	"strings"
)

// lookAtMapping shows how the kernel maps the owner's models here: it is the
// same file as there, and what may not be written is not writable.
func (c *client) lookAtMapping() error {
	here, err := mappings("self")
	if err != nil {
		return err
	}
	there, err := mappings(fmt.Sprint(os.Getppid()))
	if err != nil {
		return err
	}
	for inode, perm := range here {
		if of := there[inode]; of != "" {
			c.say("has them mapped %s, the owner %s: one memory, memfd %s; a store here faults", perm, of, inode)
			return claim(perm == "r--s" && of == "rw-s", "memory to be read is mapped read-only: %s, %s", perm, of)
		}
	}
	return claim(false, "the models are one memory in both processes: %v, %v", here, there)
}

// mappings are the permissions of a process's regions of models, by the number of their file.
// Source: proc_pid_maps(5).
func mappings(pid string) (map[string]string, error) {
	b, err := os.ReadFile("/proc/" + pid + "/maps")
	if err != nil {
		return nil, err
	}
	perms := map[string]string{}
	for line := range strings.Lines(string(b)) {
		// address, permissions, offset, device, inode, path
		if f := strings.Fields(line); len(f) > 5 && f[5] == "/memfd:barewire:main.Model" {
			perms[f[4]] = f[1]
		}
	}
	return perms, nil
}
