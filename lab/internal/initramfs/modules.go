package initramfs

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// modules is the index of a kernel's modules.
type modules struct {
	dir     string              // lib/modules/<release> of the kernel
	path    map[string]string   // by name, below dir
	needs   map[string][]string // paths, by path
	builtin map[string]bool     // by name
}

// readModules reads what depmod(8) has written.
func readModules(dir string) (*modules, error) {
	m := &modules{dir: dir, path: map[string]string{}, needs: map[string][]string{}, builtin: map[string]bool{}}
	err := eachLine(filepath.Join(dir, "modules.dep"), func(line string) {
		file, needs, _ := strings.Cut(line, ":")
		m.path[moduleName(file)] = file
		m.needs[file] = strings.Fields(needs)
	})
	if err == nil {
		err = eachLine(filepath.Join(dir, "modules.builtin"), func(line string) { m.builtin[moduleName(line)] = true })
	}
	return m, err
}

// moduleName is the name of the module in a file: kernel/net/foo-bar.ko.xz has foo_bar.
func moduleName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// closure returns the files of modules and of all that they need. Names that the kernel has built in have none; a
// name that begins with ? may be unknown to the kernel.
func (m *modules) closure(names []string) ([]string, error) {
	var files []string
	seen := map[string]bool{}
	for _, name := range names {
		name, optional := strings.CutPrefix(name, "?")
		file, ok := m.path[name]
		if !ok && !m.builtin[name] && !optional {
			return nil, fmt.Errorf("the kernel of %s has no module %s", m.dir, name)
		}
		if !ok {
			continue
		}
		for _, f := range append([]string{file}, m.needs[file]...) {
			if !seen[f] {
				seen[f] = true
				files = append(files, f)
			}
		}
	}
	return files, nil
}

// stage copies modules into a tree of their own, uncompressed, and has depmod index it: a guest looks modules up by
// name, and the kernel by alias.
func (m *modules) stage(tree string, names []string) error {
	files, err := m.closure(names)
	if err != nil {
		return err
	}
	release := filepath.Base(m.dir)
	to := filepath.Join(tree, "lib", "modules", release)
	for _, f := range files {
		data, err := readModule(filepath.Join(m.dir, f))
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(to, strings.TrimSuffix(f, ".xz")), data); err != nil {
			return err
		}
	}
	for _, f := range []string{"modules.order", "modules.builtin", "modules.builtin.modinfo"} {
		data, err := os.ReadFile(filepath.Join(m.dir, f))
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(to, f), data); err != nil {
			return err
		}
	}
	if out, err := exec.Command("/sbin/depmod", "-b", tree, release).CombinedOutput(); err != nil {
		return fmt.Errorf("depmod: %w: %s", err, out)
	}
	return nil
}

// readModule reads a module. To uncompress it in a guest would take seconds.
func readModule(file string) ([]byte, error) {
	if !strings.HasSuffix(file, ".xz") {
		return os.ReadFile(file)
	}
	out, err := exec.Command("xz", "-dc", file).Output()
	if err != nil {
		return nil, fmt.Errorf("xz -dc %s: %w; if it is damaged, remove the kernel's directory and it is fetched again", file, err)
	}
	return out, nil
}

func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

func eachLine(file string, f func(string)) error {
	r, err := os.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		f(s.Text())
	}
	return s.Err()
}
