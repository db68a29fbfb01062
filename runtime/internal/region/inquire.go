package region

import "sync/atomic"

// Inquiry is what a device package is asked about operations that hold handles, where nothing but the asking makes it look: what
// has ended need not have been noticed.
type Inquiry struct {
	// Settle lets go of what operations held that have ended.
	Settle func()
	// Posted is where an operation was posted that has the handle; empty where none has.
	Posted func(*Handle) string
}

var inquiries atomic.Pointer[[]Inquiry]

// Inquire has a device package asked from now on.
func Inquire(q Inquiry) {
	for {
		old := inquiries.Load()
		all := []Inquiry{q}
		if old != nil {
			all = append(all, *old...)
		}
		if inquiries.CompareAndSwap(old, &all) {
			return
		}
	}
}

// asked are those to ask.
func asked() []Inquiry {
	if all := inquiries.Load(); all != nil {
		return *all
	}
	return nil
}

// inquire has device packages let go of what has ended, and reports whether there are any.
func (h *Handle) inquire() bool {
	all := asked()
	for _, q := range all {
		q.Settle()
	}
	return len(all) > 0
}

// posted is where an operation was posted that has the handle, for errors.
func (h *Handle) posted() string {
	for _, q := range asked() {
		if at := q.Posted(h); at != "" {
			return at
		}
	}
	return ""
}
