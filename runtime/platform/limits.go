package platform

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// Unlimited is a limit that is none.
const Unlimited = math.MaxUint64

// Limits is what the system allows this process, and what it shares out.
type Limits struct {
	PageSize Fact[uint64] `json:"page_size"` // bytes

	Memlock     Fact[uint64] `json:"memlock"`      // bytes that may be locked, which registered memory is; [Unlimited]: any
	MemlockHard Fact[uint64] `json:"memlock_hard"` // up to which a program may raise it itself
	IPCLock     Fact[bool]   `json:"cap_ipc_lock"` // the process may lock beyond the limit
	Nice        Fact[bool]   `json:"cap_sys_nice"` // containers often forbid mbind without it
	Admin       Fact[bool]   `json:"cap_sys_admin"`
	OpenFiles   Fact[uint64] `json:"open_files"`
	Maps        Fact[uint64] `json:"max_map_count"` // mappings of a process

	MemoryTotal     Fact[uint64] `json:"memory_total"`     // bytes
	MemoryAvailable Fact[uint64] `json:"memory_available"` // bytes that programs can have without swapping
	Cgroup          Fact[uint64] `json:"cgroup_memory"`    // bytes that the process's control group may have; [Unlimited]: any

	HugePages []HugePages  `json:"huge_pages"` // of the whole machine
	THP       Fact[string] `json:"thp"`        // transparent huge pages: always, madvise, never
	THPFiles  Fact[string] `json:"thp_files"`  // those of memory files, as regions are: always, within_size, advise, never, deny, force
}

// MayLock is the bytes that this process may lock: the limit, or any with the capability. Not known where neither is.
func (l *Limits) MayLock() Fact[uint64] {
	if l.IPCLock.Or(false) {
		return Fact[uint64]{Value: Unlimited, From: l.IPCLock.From, Inferred: "CAP_IPC_LOCK"}
	}
	return l.Memlock
}

func (t *tree) limits() Limits {
	l := Limits{
		PageSize:  t.pageSize(),
		Maps:      t.number("proc/sys/vm/max_map_count"),
		HugePages: t.hugePages("sys/kernel/mm/hugepages"),
		Cgroup:    t.cgroupMemory(),
	}
	l.THP, l.THPFiles = t.transparent()
	const meminfo = "proc/meminfo"
	b, err := t.read(meminfo)
	l.MemoryTotal = meminfoLine(b, err, meminfo, "MemTotal:")
	l.MemoryAvailable = meminfoLine(b, err, meminfo, "MemAvailable:")

	caps := then(t.status("CapEff:"), parseHex)
	has := func(bit int) Fact[bool] {
		return then(caps, func(v uint64) (bool, error) { return v>>bit&1 != 0, nil })
	}
	// The numbers are those of include/uapi/linux/capability.h.
	l.IPCLock, l.Admin, l.Nice = has(14), has(21), has(23)

	limits := t.text("proc/self/limits")
	limit := func(name string, column int) Fact[uint64] {
		return then(limits, func(s string) (uint64, error) { return limitOf(s, name, column) })
	}
	l.Memlock, l.MemlockHard = limit("Max locked memory", 0), limit("Max locked memory", 1)
	l.OpenFiles = limit("Max open files", 0)
	return l
}

// TransparentHugePages is whether the kernel makes pages huge by itself, of memory without a file and of memory files, as files below a root
// say now: [Limits.THP] and [Limits.THPFiles].
func TransparentHugePages(fsys fs.FS) (own, files Fact[string]) {
	return newTree(context.Background(), fsys).transparent()
}

// transparent reads both. Source: the kernel's Documentation/admin-guide/mm/transhuge.rst.
func (t *tree) transparent() (own, files Fact[string]) {
	const dir = "sys/kernel/mm/transparent_hugepage"
	return then(t.text(dir+"/enabled"), bracketed), then(t.text(dir+"/shmem_enabled"), bracketed)
}

// status is a line of /proc/self/status.
func (t *tree) status(key string) Fact[string] {
	return then(t.procStatus, func(s string) (string, error) {
		for line := range strings.SplitSeq(s, "\n") {
			if v, ok := strings.CutPrefix(line, key); ok {
				return strings.TrimSpace(v), nil
			}
		}
		return "", fmt.Errorf("%w: no line %s", ErrMalformed, key)
	})
}

// limitOf reads a column of a line of /proc/self/limits.
func limitOf(s, name string, column int) (uint64, error) {
	for line := range strings.SplitSeq(s, "\n") {
		rest, ok := strings.CutPrefix(line, name)
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		if len(fields) <= column {
			break
		}
		if fields[column] == "unlimited" {
			return Unlimited, nil
		}
		return parseNumber(fields[column])
	}
	return 0, fmt.Errorf("%w: no line %q", ErrMalformed, name)
}

// bracketed is the word in brackets of "always [madvise] never".
func bracketed(s string) (string, error) {
	for word := range strings.FieldsSeq(s) {
		if w, ok := strings.CutPrefix(word, "["); ok {
			if w, ok := strings.CutSuffix(w, "]"); ok {
				return w, nil
			}
		}
	}
	return "", fmt.Errorf("%w: nothing is chosen in %s", ErrMalformed, quote(s))
}

// pageSize reads the entry AT_PAGESZ (6) of the process's auxiliary vector, which has words of this processor or of the
// one of a captured machine: 64 bits in either order, or 32.
func (t *tree) pageSize() Fact[uint64] {
	const name = "proc/self/auxv"
	b, err := t.read(name)
	if err != nil {
		return unknown[uint64](name, err)
	}
	const key = 6
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for at := 0; at+16 <= len(b); at += 16 {
			if v := order.Uint64(b[at+8:]); order.Uint64(b[at:]) == key && isPage(v) {
				return known(v, name)
			}
		}
		for at := 0; at+8 <= len(b); at += 8 {
			if v := order.Uint32(b[at+4:]); order.Uint32(b[at:]) == key && isPage(uint64(v)) {
				return known(uint64(v), name)
			}
		}
	}
	return unknown[uint64](name, fmt.Errorf("%w: no entry for the page size", ErrMalformed))
}

// isPage reports whether it is the size of a page on some processor.
func isPage(v uint64) bool { return v >= 4<<10 && v <= 1<<20 && v&(v-1) == 0 }

// FormatBytes writes bytes for people: 64 GiB, 2.4 GiB, unlimited.
func FormatBytes(n uint64) string {
	if n == Unlimited {
		return "unlimited"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i, size := 0, uint64(1)
	for i < len(units)-1 && n/size >= 1024 {
		i, size = i+1, size*1024
	}
	if n%size == 0 {
		return strconv.FormatUint(n/size, 10) + " " + units[i]
	}
	return strconv.FormatFloat(float64(n)/float64(size), 'f', 1, 64) + " " + units[i]
}
