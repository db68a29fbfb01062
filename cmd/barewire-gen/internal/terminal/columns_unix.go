//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns asks the terminal (tty_ioctl(4)). One of a serial line does not know, and says 0: it has 80 columns by tradition.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	switch {
	case err != nil:
		return 0
	case size.Col == 0:
		return 80
	}
	return int(size.Col)
}

// Colors reports whether what is written to f is seen on a terminal, which all know the sequences for colors.
func Colors(f *os.File) bool { return columns(f) > 0 }
