package cxl

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// segment is memory that is shared.
type segment struct{ device }

func (s *segment) noFile() error {
	return errors.New("it is memory that hosts share, which no device is given")
}

// openShared maps bytes for shared elements, and locks those that are this program's to write.
func openShared(c *config, bytes uint64, role Role, stride uint64) (backing, error) {
	mode, prot := unix.O_RDONLY, unix.PROT_READ
	if role.count > 0 {
		mode, prot = unix.O_RDWR, unix.PROT_READ|unix.PROT_WRITE
	}
	open := openSharedDax
	if c.file != "" {
		open = openSharedFile
	}
	fd, align, node, err := open(c, bytes, mode)
	if err != nil {
		return nil, err
	}
	if role.count > 0 {
		err = lock(fd, c.offset+uint64(role.first)*stride, uint64(role.count)*stride)
	}
	var m *mapping
	if err == nil {
		m, err = mapShared(fd, c.offset, (bytes+align-1)&^(align-1), align, prot)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &segment{device{m, node}}, nil
}

// openSharedDax opens a device-dax that has so many bytes from the offset on.
func openSharedDax(c *config, bytes uint64, mode int) (fd int, align uint64, node int, err error) {
	d, ok := c.machine.DaxOf(c.device)
	if !ok {
		return -1, 0, -1, fmt.Errorf("there is no dax device %q: %w: %w", c.device, ErrDevice, ErrNoCXL)
	}
	if err := c.isCXL(d.Name, d.Kind); err != nil {
		return -1, 0, -1, err
	}
	part := *c
	part.size = 0
	from, err := partOf(&part, d)
	if err != nil {
		return -1, 0, -1, fmt.Errorf("%s: %w", d.Name, err)
	}
	if bytes > from.Size {
		return -1, 0, -1, fmt.Errorf("%s has %#x bytes from %#x on, and the elements with their heads take %#x: %w", d.Name, from.Size, from.Offset, bytes, ErrPart)
	}
	fd, err = openDax(d, mode)
	return fd, from.Align, from.Node, err
}

// openSharedFile opens a file that has so many bytes from the offset on: what is beyond would be a signal.
func openSharedFile(c *config, bytes uint64, mode int) (fd int, align uint64, node int, err error) {
	align = uint64(os.Getpagesize())
	if c.offset%align != 0 {
		return -1, 0, -1, fmt.Errorf("%s: an offset of %#x is no multiple of a page: %w", c.file, c.offset, ErrPart)
	}
	fd, err = unix.Open(c.file, mode|unix.O_CLOEXEC|unix.O_NONBLOCK, 0) // of a pipe it would wait for the other end
	if err != nil {
		return -1, 0, -1, fmt.Errorf("opening %s: %w: %w", c.file, err, ErrDevice)
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", c.file, err)
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		err = fmt.Errorf("%s is no file with contents; for a device there is Device: %w", c.file, ErrDevice)
	case c.offset > uint64(st.Size) || bytes > uint64(st.Size)-c.offset:
		err = fmt.Errorf("%s has %#x bytes, and the elements with their heads take %#x from %#x on: %w", c.file, st.Size, bytes, c.offset, ErrPart)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, 0, -1, err
	}
	return fd, align, -1, nil
}
