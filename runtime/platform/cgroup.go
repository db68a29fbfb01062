package platform

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// mount is a file system of control groups.
type mount struct {
	at          string // below the root
	unified     bool   // version 2
	cpuset      bool   // version 1: it has that controller
	memory      bool
	prefix      string // of the controller's files: "cpuset.", or none where it is mounted without
	onlyCpusets bool   // the old file system of cpusets alone
}

// maxMounts is the most lines of /proc/mounts that are looked at.
const maxMounts = 1 << 14

// cgroupMounts reads where control groups are mounted: cgroups(7), cpuset(7).
func (t *tree) cgroupMounts() (mounts []mount) {
	text := t.text("proc/self/mounts")
	if !text.Known() {
		text = t.text("proc/mounts")
	}
	n := 0
	for line := range strings.SplitSeq(text.Value, "\n") {
		fields := strings.Fields(line)
		if n++; n > maxMounts {
			break
		}
		if len(fields) < 4 {
			continue
		}
		m := mount{at: strings.TrimPrefix(path.Clean(fields[1]), "/"), prefix: "cpuset."}
		options := strings.Split(fields[3], ",")
		switch fields[2] {
		case "cgroup2":
			m.unified = true
		case "cgroup":
			m.cpuset, m.memory = slices.Contains(options, "cpuset"), slices.Contains(options, "memory")
			if slices.Contains(options, "noprefix") {
				m.prefix = ""
			}
		case "cpuset":
			m.cpuset, m.onlyCpusets, m.prefix = true, true, ""
		}
		if fs.ValidPath(m.at) && (m.unified || m.cpuset || m.memory) {
			mounts = append(mounts, m)
		}
	}
	return mounts
}

// groups is the process's control groups by controller; "" is that of version 2.
func (t *tree) groups() map[string]string {
	of := map[string]string{}
	text := t.text("proc/self/cgroup")
	for line := range strings.SplitSeq(text.Value, "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			of[controller] = parts[2]
		}
	}
	if _, ok := of["cpuset"]; !ok {
		if f := t.text("proc/self/cpuset"); f.Known() {
			of["cpuset"] = f.Value
		}
	}
	return of
}

// upwards gives a control group and those above it, up to the mount. A group that is not below the mount (in a container, whose
// path is the host's) is taken for the mount itself.
func upwards(mount, group string) (dirs []string) {
	group = path.Clean("/" + group)
	for {
		dirs = append(dirs, path.Join(mount, group))
		if group == "/" {
			return dirs
		}
		group = path.Dir(group)
	}
}

// maxGroups is the deepest that control groups are looked at.
const maxGroups = 64

// allowed reads the processors and nodes that the process may have: what the kernel says of the process, else of its control group.
func (t *tree) allowed() (cpus, mems Fact[IDs]) {
	cpus = then(t.status("Cpus_allowed_list:"), ParseIDs)
	mems = then(t.status("Mems_allowed_list:"), ParseIDs)
	if cpus.Known() && mems.Known() {
		return cpus, mems
	}
	return t.cpuset("cpus", cpus), t.cpuset("mems", mems)
}

// cpuset reads a list of the process's cpuset. f is what is known without.
func (t *tree) cpuset(list string, f Fact[IDs]) Fact[IDs] {
	for _, m := range t.mounts {
		names := []string{m.prefix + "effective_" + list, m.prefix + list}
		group, ok := t.group["cpuset"]
		if m.unified {
			names = []string{"cpuset." + list + ".effective"}
			if v2, is := t.group[""]; is {
				group, ok = v2, true
			}
		} else if !m.cpuset {
			continue
		}
		if !ok {
			continue
		}
		for i, dir := range upwards(m.at, group) {
			if i == maxGroups {
				break
			}
			for _, name := range names {
				if got := t.ids(dir + "/" + name); got.Known() && !got.Value.Empty() {
					return got
				}
			}
		}
	}
	return f
}

// cgroupMemory reads the least limit of the process's control group and those above it.
func (t *tree) cgroupMemory() Fact[uint64] {
	least := unknown[uint64]("proc/self/cgroup", ErrNotTold)
	for _, m := range t.mounts {
		name, group := "memory.limit_in_bytes", t.group["memory"]
		if m.unified {
			name, group = "memory.max", t.group[""]
		} else if !m.memory {
			continue
		}
		for i, dir := range upwards(m.at, group) {
			if i == maxGroups {
				break
			}
			f := then(t.text(dir+"/"+name), parseMax)
			switch {
			case f.Known() && f.Value < least.Or(Unlimited) || f.Known() && !least.Known():
				least = f
			case !f.Known() && !errors.Is(f.Err, fs.ErrNotExist) && !least.Known():
				least = f
			}
		}
	}
	return least
}

// parseMax reads a limit: version 2 writes "max" for none, version 1 the highest multiple of the page.
func parseMax(s string) (uint64, error) {
	if s == "max" {
		return Unlimited, nil
	}
	n, err := parseNumber(s)
	if err == nil && n >= 1<<62 {
		n = Unlimited
	}
	return n, err
}
