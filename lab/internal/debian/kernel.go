package debian

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Kernel is one of Debian's, unpacked.
type Kernel struct {
	Series  string // "6.1"
	Release string // "6.1.0-57-amd64", as uname -r has it
	Dir     string // with lib/modules/<Release> and, uncompressed, vmlinux in it
}

// Image is what QEMU boots.
func (k *Kernel) Image() string { return filepath.Join(k.Dir, "vmlinux") }

// Modules is the directory of the kernel's modules.
func (k *Kernel) Modules() string { return filepath.Join(k.Dir, "lib", "modules", k.Release) }

// Kernel fetches the newest kernel of a series into a directory, or finds it there.
func (m *Machine) Kernel(cache, series string) (*Kernel, error) {
	k := &Kernel{Series: series, Dir: filepath.Join(cache, "kernel-"+series)}
	err := k.find()
	if err == nil {
		return k, nil
	}
	if _, there := os.Stat(k.Dir); there == nil {
		fmt.Fprintf(m.Log, "lab: %v: it is fetched again\n", err)
	}
	m.refresh()
	name, err := kernelPackage(series)
	if err != nil {
		return nil, err
	}
	whole := k.Dir
	k.Dir += ".new"
	if err := m.unpack(name, k.Dir); err != nil {
		return nil, err
	}
	if err := k.prepare(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := os.RemoveAll(whole); err != nil {
		return nil, err
	}
	if err := os.Rename(k.Dir, whole); err != nil {
		return nil, err
	}
	k.Dir = whole
	return k, k.find()
}

// find looks whether the directory has all of a kernel.
func (k *Kernel) find() error {
	releases, err := filepath.Glob(filepath.Join(k.Dir, "lib", "modules", "*", "modules.dep"))
	if err != nil || len(releases) != 1 {
		return fmt.Errorf("%s has the modules of %d kernels", k.Dir, len(releases))
	}
	k.Release = filepath.Base(filepath.Dir(releases[0]))
	if !Whole(k.Image()) {
		return fmt.Errorf("%s is not whole", k.Image())
	}
	return nil
}

// kernelPackage finds the package behind a series: Debian's own kernel, or one of a newer series for it.
func kernelPackage(series string) (string, error) {
	for _, meta := range []string{"linux-image-" + series + "-amd64", "linux-image-amd64"} {
		for _, dep := range depends(meta) {
			if strings.HasPrefix(dep, "linux-image-"+series+".") {
				return dep, nil
			}
		}
	}
	return "", cannot("the package sources of this machine have no kernel %s", series)
}

// prepare makes of an unpacked package what find wants: an index of the modules, and the kernel uncompressed.
func (k *Kernel) prepare() error {
	images, err := filepath.Glob(filepath.Join(k.Dir, "boot", "vmlinuz-*"))
	if err != nil || len(images) != 1 {
		return fmt.Errorf("it has %d kernels", len(images))
	}
	k.Release = strings.TrimPrefix(filepath.Base(images[0]), "vmlinuz-")
	packed, err := os.ReadFile(images[0])
	if err != nil {
		return err
	}
	image, err := uncompress(packed)
	if err != nil {
		return err
	}
	if err := os.WriteFile(k.Image(), image, 0o644); err != nil {
		return err
	}
	if _, err = output("/sbin/depmod", "-b", k.Dir, k.Release); err != nil {
		return err
	}
	return Seal(k.Image())
}

// Offsets in the header of a bzImage. Source: the kernel's Documentation/arch/x86/boot.rst.
const (
	bootSectors   = 0x1f1 // of 512 bytes, before them one more
	bootPayload   = 0x248 // from the end of the sectors
	bootLength    = 0x24c
	bootHeaderEnd = 0x250
)

// uncompress takes the kernel, an ELF image, out of a bzImage. QEMU starts it by its PVH entry. The guest would take
// seconds to do this at every boot.
func uncompress(image []byte) ([]byte, error) {
	if len(image) < bootHeaderEnd || string(image[0x202:0x206]) != "HdrS" {
		return nil, errors.New("it is no bzImage")
	}
	le := binary.LittleEndian
	at := (int64(image[bootSectors])+1)*512 + int64(le.Uint32(image[bootPayload:]))
	end := at + int64(le.Uint32(image[bootLength:])) - 4 // behind it is the length of what it becomes
	if at > end || end > int64(len(image)) {
		return nil, fmt.Errorf("its payload, bytes %d to %d, is not in its %d bytes", at, end, len(image))
	}
	payload := image[at:end]
	for magic, tool := range map[string]string{"\xfd7zXZ": "xz", "\x28\xb5\x2f\xfd": "zstd", "\x1f\x8b": "gzip"} {
		if !bytes.HasPrefix(payload, []byte(magic)) {
			continue
		}
		cmd := exec.Command(tool, "-dc")
		cmd.Stdin = bytes.NewReader(payload)
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("its payload: %s: %w", tool, err)
		}
		if _, err := elf.NewFile(bytes.NewReader(out)); err != nil {
			return nil, fmt.Errorf("its payload: %w", err)
		}
		return out, nil
	}
	return nil, fmt.Errorf("its payload begins with % x, a compression that is not known here", payload[:min(8, len(payload))])
}
