package initramfs

import (
	"fmt"
	"io"
	"os"
)

// Overlay is what one guest has beside the base.
type Overlay struct {
	Plan     string            // what the guest does: shell, read by init.sh
	Programs map[string]string // path in the guest: file here, which comes with its libraries
	Trees    map[string]string // path in the guest: directory here
}

// Write writes base and overlay to one file, for a boot loader to load.
func (o *Overlay) Write(name, base string) error {
	from, err := os.Open(base)
	if err != nil {
		return err
	}
	defer from.Close()
	return create(name, func(a *archive) error {
		if _, err := io.Copy(a.w, from); err != nil {
			return err
		}
		a.file("lab/plan", modeFile, []byte(o.Plan))
		for to, file := range o.Programs {
			if err := a.program(to, file); err != nil {
				return fmt.Errorf("%s: %w", to, err)
			}
		}
		for to, dir := range o.Trees {
			if err := a.tree(to, dir); err != nil {
				return fmt.Errorf("%s: %w", to, err)
			}
		}
		return nil
	})
}
