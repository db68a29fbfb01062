package region

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

const hugePage = 2 << 20 // of MFD_HUGETLB as it is asked for here, and of what is aligned for it

// transparent is whether the kernel makes pages huge by itself: see [platform.TransparentHugePages]. An administrator may change it at any time.
var transparent = func() (own, files platform.Fact[string]) { return platform.TransparentHugePages(os.DirFS("/")) }

// filesNever reports whether memory files surely get no huge pages.
func filesNever(files platform.Fact[string]) bool {
	v := files.Or("")
	return v == "never" || v == "deny"
}

// obtainHuge maps memory of huge pages: those that are reserved; or, where the kernel makes none of memory files, and some of other memory,
// without a file. It fails where a memory file is as good.
func obtainHuge(a ask) (memory, error) {
	if m, err := mapReserved(a); err == nil {
		return m, nil
	}
	own, files := transparent()
	if a.size < hugePage || !filesNever(files) || own.Or("never") == "never" {
		return memory{}, errors.ErrUnsupported
	}
	a.align = max(a.align, hugePage)
	return mapAnonymous(a, fmt.Errorf("huge pages were asked for, and this kernel makes none of memory files (%s is %s)", files.From, files.Value))
}

// advise asks for huge pages, before anything is touched: pages do not grow later. It reports whether the kernel may make some:
// memory of less than one gets none.
func advise(at unsafe.Pointer, size uintptr, file bool) bool {
	own, files := transparent()
	if size < hugePage || file && filesNever(files) || !file && own.Or("") == "never" {
		return false
	}
	return unix.Madvise(unsafe.Slice((*byte)(at), size), unix.MADV_HUGEPAGE) == nil
}
