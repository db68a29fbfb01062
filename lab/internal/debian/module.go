package debian

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// Module is a driver that is in the kernel's source and that Debian does not build.
type Module struct {
	Source string // directory in the kernel's tree
	Config string // that enables it
}

// Name is the module's.
func (d *Module) Name() string { return path.Base(d.Source) }

// buildTools are what it takes to build a module beside the kernel's headers.
var buildTools = []string{"gcc-12", "make", "libelf1", "libssl3", "zlib1g", "libc6-dev", "tar", "pahole"}

// Module builds a driver for a kernel from Debian's source of it, or finds it built. It returns the module's file.
func (m *Machine) Module(cache string, k *Kernel, d Module) (string, error) {
	name := d.Name() + ".ko"
	built := filepath.Join(cache, "modules-"+k.Release, name)
	if Whole(built) {
		return built, nil
	}
	if err := m.Install(buildTools...); err != nil {
		return "", err
	}
	m.refresh()
	work, err := os.MkdirTemp(cache, ".build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	headers, err := m.headers(work, k)
	if err != nil {
		return "", err
	}
	source, err := m.source(work, k, d)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(m.Log, "lab: building %s for %s\n", name, k.Release)
	out, err := exec.Command("make", "-C", headers, "M="+source, d.Config+"=m", "modules").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building %s for %s: %w\n%s", name, k.Release, err, tail(string(out), 20))
	}
	if err := os.MkdirAll(filepath.Dir(built), 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(source, name), built); err != nil {
		return "", err
	}
	return built, Seal(built)
}

// headers unpacks what modules of a kernel are built with, and returns the directory to build in. The packages
// expect to be installed, and one of them wants the kernel to be; so what is in their files of where they are changes.
func (m *Machine) headers(work string, k *Kernel) (string, error) {
	names := []string{"linux-headers-" + k.Release}
	for _, dep := range depends(names[0]) {
		if strings.HasPrefix(dep, "linux-headers-") || strings.HasPrefix(dep, "linux-kbuild-") {
			names = append(names, dep)
		}
	}
	if len(names) != 3 {
		return "", cannot("the package sources of this machine have no headers of kernel %s any more; remove %s for a newer one", k.Release, k.Dir)
	}
	root := filepath.Join(work, "headers")
	for i, name := range names {
		part := filepath.Join(work, fmt.Sprint("part", i))
		if err := m.unpack(name, part); err != nil {
			return "", err
		}
		if _, err := output("cp", "-a", part+"/.", root); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(root, "usr", "src", names[0])
	for _, file := range []string{"Makefile", ".kernelvariables"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			continue
		}
		moved := strings.ReplaceAll(string(text), " /usr/", " "+root+"/usr/")
		if err := os.WriteFile(filepath.Join(dir, file), []byte(moved), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// source unpacks a driver's part of the kernel's source.
func (m *Machine) source(work string, k *Kernel, d Module) (string, error) {
	name := "linux-source-" + k.Series
	whole := filepath.Join(work, "source")
	if err := m.unpack(name, whole); err != nil {
		return "", err
	}
	archive := filepath.Join(whole, "usr", "src", name+".tar.xz")
	if _, err := output("tar", "-C", work, "-xf", archive, path.Join(name, d.Source)); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return filepath.Join(work, name, d.Source), nil
}
