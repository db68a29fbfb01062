package initramfs

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/lab/internal/debian"
)

//go:embed init.sh
var initScript []byte

// Packages are those of Debian that guests and the making of them need.
var Packages = []string{
	"qemu-system-x86", "busybox-static", "dash", "coreutils", "util-linux", "kmod", "xz-utils", "zstd", "gzip",
	"iproute2", "rdma-core", "ibverbs-utils", "ibverbs-providers", "librdmacm1", "rdmacm-utils", "perftest",
	"ndctl", "daxctl", "numactl",
}

// programs are what a guest has beside busybox, which stands in for the rest. Programs that start others are not
// busybox's: those would start its own ip, whatever there is in PATH.
var programs = []string{
	"timeout", "env", "nice", "nohup", "taskset", "setpriv", "unshare", "nsenter", "prlimit", "ip", "tc", "ss", "rdma", "kmod",
	"ibv_devices", "ibv_devinfo", "ibv_rc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "rping", "ucmatose",
	"ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw", "ib_send_lat", "ib_send_bw", "ib_atomic_lat",
	"ndctl", "daxctl", "cxl", "numactl", "numastat", "migratepages",
}

// opened are libraries that programs open while they run, so that ldd(1) does not list them, and what libibverbs
// needs to find its drivers. Patterns.
var opened = []string{
	"/usr/lib/x86_64-linux-gnu/libgcc_s.so.1", // by pthread_exit
	"/usr/lib/x86_64-linux-gnu/libnss_files.so.2",
	"/usr/lib/x86_64-linux-gnu/libibverbs.so.1",
	"/usr/lib/x86_64-linux-gnu/librdmacm.so.1",
	"/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav*.so",
	"/usr/lib/x86_64-linux-gnu/libibverbs/libsiw-rdmav*.so",
	"/etc/libibverbs.d/rxe.driver",
	"/etc/libibverbs.d/siw.driver",
}

// drivers are the kernel modules of every guest. Others that a driver asks for by name are among them. With ? where
// not each kernel has it.
var drivers = []string{
	"virtio_pci", "virtio_net", "9p", "9pnet_virtio",
	"dummy", "veth", "tun", "macvlan", "vrf", "sch_netem",
	"rdma_rxe", "ib_uverbs", "rdma_ucm", "ib_umad", "iw_cm", "?libcrc32c", "crc32_generic", "crc32c_generic",
	"cxl_acpi", "cxl_pci", "cxl_mem", "cxl_pmem", "cxl_port", "?dax_cxl", "dax_pmem", "dax_hmem", "kmem", "device_dax",
	"nfit", "nd_pmem", "nd_btt", "nd_e820", "libnvdimm",
}

// Base makes the part of the archive that all guests of a kernel share, or finds it, and returns its file. It
// changes when a package of this machine does.
func Base(m *debian.Machine, cache string, k *debian.Kernel) (string, error) {
	have, err := m.Installed()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, string(initScript), programs, opened, drivers, k.Release)
	for _, name := range slices.Sorted(maps.Keys(have)) {
		fmt.Fprintln(h, name, have[name])
	}
	name := filepath.Join(cache, fmt.Sprintf("base-%s-%.8x.cpio", k.Series, h.Sum(nil)))
	if debian.Whole(name) {
		return name, nil
	}
	old, _ := filepath.Glob(filepath.Join(cache, "base-"+k.Series+"-*"))
	for _, f := range old {
		_ = os.Remove(f)
	}
	fmt.Fprintf(m.Log, "lab: making what guests of kernel %s share\n", k.Release)
	if err := create(name+".new", func(a *archive) error { return base(a, k) }); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return "", err
	}
	return name, debian.Seal(name)
}

// create writes an archive to a file.
func create(name string, fill func(*archive) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	a := newArchive(w)
	if err := fill(a); err != nil {
		return err
	}
	if err := a.close(); err != nil {
		return err
	}
	return w.Flush()
}

func base(a *archive, k *debian.Kernel) error {
	a.root()
	for _, d := range []string{"dev", "proc", "sys", "tmp", "run", "root", "var/lib", "host", "lab", "etc"} {
		a.dir(d)
	}
	a.file("init", modeProg, initScript)
	a.file("etc/nsswitch.conf", modeFile, []byte("hosts: files\n"))
	a.file("etc/hosts", modeFile, []byte("127.0.0.1 localhost\n::1 localhost\n"))
	a.file("etc/passwd", modeFile, []byte("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"))
	a.file("etc/group", modeFile, []byte("root:x:0:\nnogroup:x:65534:\n"))
	if err := a.tools(); err != nil {
		return err
	}
	for _, pattern := range opened {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			return fmt.Errorf("there is no %s", pattern)
		}
		for _, f := range files {
			if err := a.program(f, f); err != nil {
				return err
			}
		}
	}
	return a.modules(k)
}

// tools puts the programs in, and a link to busybox for each of the others that it knows.
func (a *archive) tools() error {
	for _, name := range programs {
		file, err := exec.LookPath(name)
		if err != nil {
			file = "/sbin/" + name // where PATH is a user's
		}
		if err := a.program("bin/"+name, file); err != nil {
			return err
		}
	}
	for _, name := range []string{"modprobe", "insmod", "lsmod", "rmmod", "modinfo", "depmod"} {
		a.link("sbin/"+name, "/usr/bin/kmod")
		a.link("bin/"+name, "/usr/bin/kmod")
	}
	if err := a.program("bin/sh", "/bin/dash"); err != nil {
		return err
	}
	if err := a.program("bin/busybox", "/bin/busybox"); err != nil {
		return err
	}
	out, err := exec.Command("/bin/busybox", "--list").Output()
	if err != nil {
		return fmt.Errorf("busybox --list: %w", err)
	}
	for _, applet := range strings.Fields(string(out)) {
		a.link("bin/"+applet, "busybox")
	}
	return nil
}

// program puts a file in, and the libraries that it is linked with where they are here.
func (a *archive) program(name, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	a.file(name, modeProg, data)
	out, err := exec.Command("ldd", file).Output()
	if err != nil {
		return nil // a static program, or none
	}
	for _, word := range strings.Fields(string(out)) {
		if !strings.HasPrefix(word, "/") || a.seen[clean(word)] {
			continue
		}
		lib, err := os.ReadFile(word)
		if err != nil {
			return fmt.Errorf("%s needs %w", file, err)
		}
		a.file(word, modeProg, lib)
	}
	return nil
}

// modules puts the drivers in, with their index.
func (a *archive) modules(k *debian.Kernel) error {
	all, err := readModules(k.Modules())
	if err != nil {
		return err
	}
	tree, err := os.MkdirTemp("", "barewire-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	if err := all.stage(tree, drivers); err != nil {
		return err
	}
	return a.tree("", tree)
}

// tree puts the files of a directory in, below name.
func (a *archive) tree(name, dir string) error {
	return filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		mode := modeFile
		if info, err := e.Info(); err == nil && info.Mode()&0o111 != 0 {
			mode = modeProg
		}
		a.file(filepath.Join(name, strings.TrimPrefix(file, dir)), mode, data)
		return nil
	})
}
