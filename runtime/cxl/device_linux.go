package cxl

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// mapping is a range of address space with memory in it.
type mapping struct {
	at, whole   unsafe.Pointer
	size, taken uintptr
	fd          int // -1: none
}

// mapShared maps a part of a file, with a page without access at either end.
func mapShared(fd int, offset, size, align uint64, prot int) (*mapping, error) {
	align = max(align, hugeAlign)
	if size > 1<<62 || uint64(uintptr(size+2*align)) != size+2*align {
		return nil, fmt.Errorf("%d bytes are more than the address space: %w", size, ErrPart)
	}
	room := uintptr(size + 2*align)
	whole, err := unix.MmapPtr(-1, 0, nil, room, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserving %d bytes of address space: %w", room, err)
	}
	m := &mapping{whole: whole, taken: room, size: uintptr(size), fd: fd}
	m.at = unsafe.Add(whole, uintptr(align)-uintptr(whole)&(uintptr(align)-1))
	flags := unix.MAP_SHARED | unix.MAP_FIXED
	if fd < 0 {
		flags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_FIXED | unix.MAP_NORESERVE
	}
	if _, err := unix.MmapPtr(fd, int64(offset), m.at, m.size, prot, flags); err != nil {
		_ = unix.MunmapPtr(whole, room)
		return nil, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	return m, nil
}

func (m *mapping) base() unsafe.Pointer { return m.at }

// close unmaps it; the lock goes with the file.
func (m *mapping) close() error {
	err := unix.MunmapPtr(m.whole, m.taken)
	if m.fd >= 0 {
		err = errors.Join(err, unix.Close(m.fd))
	}
	return err
}

// device is memory of a device-dax.
type device struct {
	*mapping
	node int
}

func (d *device) ready(uint64, uint64) (bool, error) { return false, nil }

// nodes is the node that the device belongs to: the kernel has no pages of it, so move_pages(2) knows none.
func (d *device) nodes() func() []int {
	return func() []int {
		if d.node < 0 {
			return nil
		}
		return []int{d.node}
	}
}

func (d *device) noFile() error { return errPartOfDevice }

var errPartOfDevice = errors.New("it is a part of a device-dax, which as a file would be all of the device")

// regularFiles has tests map files in the place of devices.
var regularFiles = false

// openDevice claims and maps a part of a device-dax.
func openDevice(c *config, d *platform.Dax) (*Pool, error) {
	from, err := partOf(c, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	fd, err := openDax(d, unix.O_RDWR)
	if err == nil {
		if err = lock(fd, from.Offset, from.Size); err != nil {
			_ = unix.Close(fd)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	m, err := mapShared(fd, from.Offset, from.Size, from.Align, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("%s: %w: %w", d.Name, err, ErrDevice)
	}
	return newPool(c, from, &device{m, from.Node}), nil
}

// partOf checks what is asked for: the kernel takes a wrong offset and maps another one, and takes more than the device has.
func partOf(c *config, d *platform.Dax) (Origin, error) {
	size, align := d.Size.Or(0), d.Align.Or(0)
	o := Origin{
		Device: d.Name, Node: d.TargetNode.Or(-1), Kind: d.Kind.Or(platform.UnknownMemory).String(), Offset: c.offset, Size: c.size, Align: align,
		Assumed: !d.Kind.Or(platform.UnknownMemory).IsCXL(),
	}
	if r, ok := c.machine.CXL.Region(d.Region); ok {
		o.Tag = r.UUID.Or("")
	}
	o.Tag = d.Tag.Or(o.Tag) // of a region of dynamic capacity each device has its own
	switch {
	case size == 0 || align == 0 || align&(align-1) != 0 || align%uint64(os.Getpagesize()) != 0:
		return o, fmt.Errorf("the system says that it has %s bytes, and maps them by %s: %w", d.Size, d.Align, ErrDevice)
	case o.Offset%align != 0:
		return o, fmt.Errorf("an offset of %#x is no multiple of %#x: %w", o.Offset, align, ErrPart)
	case o.Offset >= size:
		return o, fmt.Errorf("an offset of %#x is behind its %#x bytes: %w", o.Offset, size, ErrPart)
	}
	if o.Size == 0 {
		o.Size = (size - o.Offset) &^ (align - 1)
	}
	switch {
	case o.Size == 0 || o.Size%align != 0:
		return o, fmt.Errorf("%#x bytes are no multiple of %#x: %w", o.Size, align, ErrPart)
	case o.Size > size-o.Offset:
		return o, fmt.Errorf("%#x bytes from %#x on, and it has %#x: %w", o.Size, o.Offset, size, ErrPart)
	}
	return o, nil
}

// openDax opens a device, which is the one that was looked at.
func openDax(d *platform.Dax, mode int) (int, error) {
	fd, err := unix.Open(d.Dev, mode|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("opening %s: %w: %w", d.Dev, err, ErrDevice)
	}
	if err := sameDevice(fd, d); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// sameDevice makes sure that a file is the device that was looked at: in a container it may be another one.
func sameDevice(fd int, d *platform.Dax) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("%s: %w", d.Dev, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR {
		if regularFiles {
			return nil
		}
		return fmt.Errorf("%s is no device: %w", d.Dev, ErrDevice)
	}
	if is := fmt.Sprintf("%d:%d", unix.Major(uint64(st.Rdev)), unix.Minor(uint64(st.Rdev))); d.Number.Or("") != is {
		return fmt.Errorf("%s is the device %s, and %s is %s: %w", d.Dev, is, d.Name, d.Number, ErrDevice)
	}
	return nil
}

// lock claims a range of a file for this opening of it. Source: fcntl(2), open file description locks.
func lock(fd int, offset, size uint64) error {
	err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: int64(offset), Len: int64(size)})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("%#x bytes from %#x on: %w", size, offset, ErrClaimed)
	}
	if err != nil {
		return fmt.Errorf("locking %#x bytes from %#x on: %w: %w", size, offset, err, ErrDevice)
	}
	return nil
}
