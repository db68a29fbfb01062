// Package debian gets what the lab needs from Debian's packages, by the machine's own apt and the sources it is
// set up with. Tools are installed; kernels and sources are fetched and unpacked into a directory, never installed.
package debian

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// ErrCannot is that the lab cannot run on this machine, which says nothing about what it would have tested.
var ErrCannot = errors.New("the lab cannot run here")

func cannot(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCannot, fmt.Sprintf(format, args...))
}

// Machine is this one, as far as its packages go.
type Machine struct {
	Log io.Writer // told what takes long

	update sync.Once
}

// Check reports whether packages can be had at all: whether this is Debian, of the architecture whose kernels the
// lab boots, and whether we may install.
func (m *Machine) Check() error {
	switch {
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
		return cannot("it takes linux/amd64, and this is %s/%s", runtime.GOOS, runtime.GOARCH)
	case osID() != "debian":
		return cannot("its tools and kernels are Debian's packages, and this is %s", osID())
	case os.Getuid() != 0:
		return cannot("installing packages and running guests takes root")
	}
	for _, tool := range []string{"apt-get", "dpkg-query", "dpkg-deb"} {
		if _, err := exec.LookPath(tool); err != nil {
			return cannot("there is no %s", tool)
		}
	}
	return nil
}

// osID is how the system names itself. Source: os-release(5).
func osID() string {
	f, err := os.Open("/etc/os-release")
	if err != nil {
		return "a system without os-release"
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if id, ok := strings.CutPrefix(s.Text(), "ID="); ok {
			return strings.Trim(id, `"`)
		}
	}
	return "a system without a name"
}

// Installed returns the packages that are installed, and their versions.
func (m *Machine) Installed() (map[string]string, error) {
	out, err := output("dpkg-query", "-W", "-f=${db:Status-Abbrev} ${Package} ${Version}\n")
	if err != nil {
		return nil, err
	}
	have := map[string]string{}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "ii" {
			have[f[1]] = f[2]
		}
	}
	return have, nil
}

// Install installs those of the packages that are missing.
func (m *Machine) Install(packages ...string) error {
	have, err := m.Installed()
	if err != nil {
		return err
	}
	var missing []string
	for _, p := range packages {
		if have[p] == "" {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	m.refresh()
	fmt.Fprintf(m.Log, "lab: installing %s\n", strings.Join(missing, " "))
	args := append([]string{"install", "-y", "-q", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"}, missing...)
	if out, err := output("apt-get", args...); err != nil {
		return cannot("packages cannot be installed: %v\n%s", err, tail(out, 10))
	}
	return nil
}

// refresh fetches apt's lists, once: a new machine has none.
func (m *Machine) refresh() {
	m.update.Do(func() {
		if _, err := output("apt-get", "update", "-q"); err != nil {
			fmt.Fprintf(m.Log, "lab: apt-get update: %v\n", err) // old lists may do
		}
	})
}

// unpack fetches a package and unpacks it into a directory, which is there whole or not at all.
func (m *Machine) unpack(name, dir string) error {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(parent, ".fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	// apt fetches as a user of its own where that one may write.
	if err := os.Chmod(work, 0o777); err != nil {
		return err
	}
	fmt.Fprintf(m.Log, "lab: fetching %s\n", name)
	cmd := exec.Command("apt-get", "download", "-q", name)
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		return cannot("package %s cannot be fetched: %v\n%s", name, err, tail(string(out), 10))
	}
	debs, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil || len(debs) != 1 {
		return fmt.Errorf("apt-get download %s left %d packages", name, len(debs))
	}
	tree := filepath.Join(work, "tree")
	if out, err := output("dpkg-deb", "-x", debs[0], tree); err != nil {
		return fmt.Errorf("unpacking %s: %w\n%s", name, err, tail(out, 5))
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(tree, dir)
}

// depends returns the packages that a package depends on, none if there is no such package.
func depends(name string) []string {
	out, err := output("apt-cache", "depends", "--important", name)
	if err != nil {
		return nil
	}
	var deps []string
	for line := range strings.Lines(out) {
		if dep, ok := strings.CutPrefix(strings.TrimSpace(line), "Depends: "); ok {
			deps = append(deps, dep)
		}
	}
	return deps
}

// output runs a program in the C locale, without questions. The error has the end of what it said on standard error.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, tail(said.String(), 5))
	}
	return string(out), err
}

// tail is the last lines of a text.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
