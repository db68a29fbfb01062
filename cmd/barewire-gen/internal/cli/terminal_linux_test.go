package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/internal/machines"
)

// inTerminal runs a command whose output and errors go to a terminal of so many columns, and returns what is seen there.
func inTerminal(t *testing.T, columns uint16, args ...string) (seen string, code int) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	fd := int(keyboard.Fd())
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		b, _ := io.ReadAll(keyboard) // ends with EIO when the screen is closed
		shown <- string(b)
	}()
	code = Main(context.Background(), args, Stdio{In: strings.NewReader(""), Out: screen, Err: screen})
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(<-shown, "\r\n", "\n"), code
}

// widest is the widest line, without its colors.
func widest(seen string) (line string, width int) {
	for l := range strings.SplitSeq(seen, "\n") {
		for {
			from, rest, ok := strings.Cut(l, "\x1b[")
			if !ok {
				break
			}
			_, to, _ := strings.Cut(rest, "m")
			l = from + to
		}
		if n := uniseg.StringWidth(l); n > width {
			line, width = l, n
		}
	}
	return line, width
}

// TestWidth has commands write to terminals of several widths: what people read fits into them.
func TestWidth(t *testing.T) {
	t.Setenv("COLUMNS", "")
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	dir := t.TempDir()
	schema := filepath.Join(dir, "k.bare")
	text := "type Kind enum { A B }\n#@residency(cxl, fallback=unified)\n#@register(remote_read, remote_write)\n" +
		"type Block struct {\n  ready: bool\n  at: u64\n  aRatherLongNameOfAField: list<u8>[47]\n  kind: Kind # " + strings.Repeat("long ", 40) + "\n}\n"
	if err := os.WriteFile(schema, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := machines.Unpack("cxl-stageB-sysram", dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		columns int // of the terminal
		most    int // that are taken
		args    []string
		has     string
	}{
		{80, 80, []string{"explain", "BW2001"}, "BW2001"},
		{46, 46, []string{"explain", "BW5104"}, "BW5104"},
		{200, 80, []string{"explain", "BW5104"}, "BW5104"}, // no wider than is good to read
		{80, 80, []string{"explain", "--list"}, "BW1104"},
		{60, 60, []string{"explain", "--list"}, "BW1104"},
		{46, 46, []string{"explain", "--list"}, "BW1104"},
		{60, 60, []string{"layout", schema, "Block"}, "aRatherLong"},
		{54, 54, []string{"layout", "--overview", schema}, "Block"},
		{70, 70, []string{"layout", "--cacheline", schema, "Block"}, "ready"},
		{50, 50, []string{"doctor", "--root", dir}, "cxl_shared"},
		{100, 100, []string{"doctor", "--root", dir}, "cxl_shared"},
	} {
		t.Run(fmt.Sprint(c.columns, c.args[:2]), func(t *testing.T) {
			seen, code := inTerminal(t, uint16(c.columns), c.args...)
			if code != 0 || !strings.Contains(seen, c.has) {
				t.Errorf("code %d:\n%s", code, seen)
			}
			if line, n := widest(withoutPlaces(seen, dir)); n > c.most {
				t.Errorf("%d columns, at most %d: %q\n%s", n, c.most, line, seen)
			}
		})
	}
}

// withoutPlaces leaves out what is never broken: lines that name places and files, and commands to copy.
func withoutPlaces(seen, dir string) string {
	var kept []string
	for l := range strings.Lines(seen) {
		if !strings.Contains(l, dir) && !strings.Contains(l, "as root:") && !strings.Contains(l, ": linux") && !strings.HasPrefix(l, "    ") || strings.HasPrefix(l, "     ") {
			kept = append(kept, strings.TrimRight(l, "\n"))
		}
	}
	return strings.Join(kept, "\n")
}

// TestWidthOfFindings: in a terminal, notes, help and remarks are broken, source is cut, the first line never is; COLUMNS
// goes before the terminal's own width; a pipe gets lines of 100 columns.
func TestWidthOfFindings(t *testing.T) {
	t.Setenv("COLUMNS", "")
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	t.Chdir(t.TempDir())
	text := "type Block struct {\n  kind: u8\n  #@atomic\n  hits: u64 # " + strings.Repeat("long ", 40) + "\n}\n"
	if err := os.WriteFile("k.bare", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{44, 60, 90} {
		seen, code := inTerminal(t, uint16(columns), "check", "k.bare")
		head, rest, _ := strings.Cut(seen, "\n")
		if code != 1 || !strings.Contains(head, "[BW2001]") || !strings.Contains(head, "\x1b[") {
			t.Errorf("code %d, %q", code, head)
		}
		if line, n := widest(rest); n > columns {
			t.Errorf("%d columns in a terminal of %d: %q\n%s", n, columns, line, rest)
		}
	}
	t.Setenv("COLUMNS", "50")
	seen, _ := inTerminal(t, 200, "check", "k.bare")
	_, rest, _ := strings.Cut(seen, "\n")
	if line, n := widest(rest); n > 50 {
		t.Errorf("COLUMNS is 50, and %q has %d", line, n)
	}
	t.Setenv("NO_COLOR", "1")
	if seen, _ := inTerminal(t, 80, "check", "k.bare"); strings.Contains(seen, "\x1b") {
		t.Errorf("colors, with NO_COLOR: %q", seen)
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	if seen, _ := inTerminal(t, 80, "check", "k.bare"); strings.Contains(seen, "\x1b") {
		t.Errorf("colors in a dumb terminal: %q", seen)
	}
	if seen, _ := inTerminal(t, 80, "check", "--color=always", "k.bare"); !strings.Contains(seen, "\x1b") {
		t.Errorf("no colors, with --color=always: %q", seen)
	}
}
