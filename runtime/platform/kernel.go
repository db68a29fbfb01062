package platform

import (
	"errors"
	"io/fs"
	"strings"
)

// Kernel is what runs.
type Kernel struct {
	Release Fact[string] `json:"release"` // 6.12.9-amd64
	Modules []Module     `json:"modules"` // that matter here
}

// Module is a module of the kernel that matters here.
type Module struct {
	Name string `json:"name"`
	// Loaded is whether it is there: as a module, or built in.
	Loaded Fact[bool] `json:"loaded"`
}

// modules is those that matter, in the order that they are shown.
var modules = []string{
	"cxl_acpi", "cxl_pci", "cxl_mem", "cxl_port", "dax_cxl", "dax_hmem", "device_dax", "kmem",
	"ib_uverbs", "rdma_cm", "rdma_ucm", "rdma_rxe", "siw", "mlx5_ib",
	"nvidia", "nvidia_uvm", "nvidia_peermem", "amdgpu", "xe", "i915",
}

// Module is the state of one of those that matter.
func (k *Kernel) Module(name string) Fact[bool] {
	for _, m := range k.Modules {
		if m.Name == name {
			return m.Loaded
		}
	}
	return Fact[bool]{}
}

func (t *tree) kernel() Kernel {
	k := Kernel{Release: t.text("proc/sys/kernel/osrelease")}
	if !k.Release.Known() {
		// "Linux version 6.12.9-amd64 (…)"
		k.Release = then(t.text("proc/version"), func(s string) (string, error) {
			fields := strings.Fields(s)
			if len(fields) < 3 {
				return "", ErrMalformed
			}
			return fields[2], nil
		})
	}
	loaded, err := t.loaded()
	builtin := t.builtin(k.Release)
	for _, name := range modules {
		k.Modules = append(k.Modules, Module{name, t.module(name, loaded, err, builtin)})
	}
	return k
}

const procModules = "proc/modules"

// loaded is the names of the modules that are loaded.
func (t *tree) loaded() (map[string]bool, error) {
	b, err := t.read(procModules)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		name, _, _ := strings.Cut(line, " ")
		names[name] = true
	}
	return names, nil
}

// builtin is the names of the modules that are part of the kernel. The file is the distribution's; not all machines have it.
func (t *tree) builtin(release Fact[string]) map[string]string {
	if !release.Known() || !fs.ValidPath(release.Value) || strings.Contains(release.Value, "/") {
		return nil
	}
	file := "lib/modules/" + release.Value + "/modules.builtin"
	b, err := t.read(file)
	if err != nil {
		return nil
	}
	of := map[string]string{}
	for line := range strings.Lines(string(b)) {
		name := strings.TrimSpace(line)
		name = name[strings.LastIndexByte(name, '/')+1:]
		name, _, _ = strings.Cut(name, ".ko")
		of[strings.ReplaceAll(name, "-", "_")] = file
	}
	return of
}

func (t *tree) module(name string, loaded map[string]bool, err error, builtin map[string]string) Fact[bool] {
	switch {
	case loaded[name]:
		return known(true, procModules)
	case builtin[name] != "":
		return known(true, builtin[name])
	case t.has("sys/module/" + name):
		return known(true, "sys/module/"+name)
	case errors.Is(err, fs.ErrNotExist) || err != nil:
		return unknown[bool](procModules, err)
	}
	return known(false, procModules)
}
