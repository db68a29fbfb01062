package machine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/lab/internal/debian"
)

// ErrDied is that a guest ended before it had done what it was told, or was switched off because it took too long.
var ErrDied = errors.New("the guest died")

// Guest is one to boot.
type Guest struct {
	Preset *Preset
	Number int // from 1, of Preset.Guests
	Kernel *debian.Kernel
	Initrd string // file
	Dir    string // of the run; the guests of one preset share it
	Nonce  string // which begins the lines that are not a test's
}

// Handler is told what a guest's tests say.
type Handler interface {
	Begin()             // the next test begins
	Output(line []byte) // with its end, if it has one
	End(status int)
}

// Boot switches a guest on and follows it until it is off, or ctx has ended. A guest that dies before it has come to its plan
// is switched on once more. What its kernel says is in Console.
func (g *Guest) Boot(ctx context.Context, h Handler) error {
	err := g.boot(ctx, h)
	if early := (*earlyError)(nil); errors.As(err, &early) && ctx.Err() == nil && g.Preset.Guests == 1 {
		fmt.Fprintf(os.Stderr, "lab: %v; once more\n", err)
		err = g.boot(ctx, h)
	}
	return err
}

// toBoot is how long a guest may take until it comes to its plan. It takes 4 to 15 seconds; once in hundreds of times one
// spins for ever.
const toBoot = 2 * time.Minute

// earlyError is a death before anything that was planned.
type earlyError struct{ err error }

func (e *earlyError) Error() string { return e.err.Error() }
func (e *earlyError) Unwrap() error { return e.err }

func (g *Guest) boot(ctx context.Context, h Handler) error {
	if g.Preset.files {
		if err := os.MkdirAll(filepath.Join(g.Dir, "files"), 0o755); err != nil {
			return err
		}
	}
	if err := g.wire(ctx); err != nil {
		return err
	}
	runtime.LockOSThread() // the kernel sends the death signal when the thread that started it ends
	defer runtime.UnlockOSThread()
	ctx, stuck := context.WithCancelCause(ctx)
	defer stuck(nil)
	late := time.AfterFunc(toBoot, func() { stuck(fmt.Errorf("it had not booted after %v", toBoot)) })
	defer late.Stop()
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", g.args()...)
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = noOrphan()
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	f := follower{nonce: g.Nonce + " ", h: h, late: late}
	f.follow(out)
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", ErrDied, context.Cause(ctx))
	case f.unprepared != "":
		err = fmt.Errorf("%w: its setup failed: %s", ErrDied, f.unprepared)
	case f.done:
		return nil
	case err != nil:
		err = fmt.Errorf("%w: QEMU: %w: %s", ErrDied, err, said.String())
	case !f.done:
		err = fmt.Errorf("%w: it switched itself off", ErrDied)
	}
	if !f.begun {
		return &earlyError{err}
	}
	return err
}

// wire waits until the first guest holds the wire, if another one is to take its other end.
func (g *Guest) wire(ctx context.Context) error {
	if g.Number == 1 {
		return nil
	}
	for {
		if _, err := os.Stat(filepath.Join(g.Dir, "wire")); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrDied, context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Console is the file with what the kernel and the setup have said.
func (g *Guest) Console() string { return filepath.Join(g.Dir, fmt.Sprintf("console%d", g.Number)) }

func (g *Guest) args() []string {
	cpu := "max,la57=off"
	words := "console=ttyS0,115200 loglevel=5 panic=-1 nokaslr mitigations=off tsc=reliable no_timer_check edd=off " + g.Preset.words
	if rate := tscKHz(); rate > 0 {
		words += fmt.Sprintf(" tsc_early_khz=%d", rate) // Linux 5.1 and later
	}
	if g.Preset.quirks && g.Kernel.Series != "6.1" {
		// QEMU 7.2's device has event logs, but no interrupt for them, which newer kernels do not forgive; without MSI they
		// do not ask. They also refuse a region under a hypervisor, whose caches they take for unknown.
		cpu += ",hypervisor=off"
		words += " pci=nomsi"
	}
	if g.Preset.breaks {
		// Linux lives on after machine checks of Intel's processors, and of AMD's of a kind that QEMU 7.2 does not have.
		cpu += ",vendor=GenuineIntel,family=6,model=42"
	}
	args := []string{"-accel", "tcg,thread=multi", "-display", "none", "-no-reboot", "-nodefaults", "-no-user-config", "-cpu", cpu,
		"-chardev", "file,id=console,path=" + g.Console(), "-serial", "chardev:console",
		"-chardev", "stdio,id=tests,signal=off", "-serial", "chardev:tests"}
	if g.Preset.files {
		args = append(args, "-virtfs", "local,mount_tag=host,security_model=none,readonly=on,multidevs=remap,path="+filepath.Join(g.Dir, "files"))
	}
	if g.Preset.breaks {
		monitor := filepath.Join(g.Dir, "monitor")
		args = append(args, "-chardev", "socket,id=monitor,server=on,wait=off,path="+monitor, "-mon", "chardev=monitor,mode=readline",
			"-chardev", "socket,id=typist,path="+monitor, "-serial", "chardev:typist")
	}
	args = append(args, g.Preset.args(g.Dir, g.Number)...)
	return append(args, "-kernel", g.Kernel.Image(), "-initrd", g.Initrd, "-append", words)
}

// follower takes what comes from a guest apart.
type follower struct {
	nonce      string
	h          Handler
	late       *time.Timer // stopped when it has begun; nil: nobody waits for that
	begun      bool        // it has come to its plan
	done       bool        // and to the plan's end
	unprepared string      // what of the setup failed
}

func (f *follower) follow(r io.Reader) {
	lines := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := lines.ReadSlice('\n') // a longer one comes in pieces
		f.line(line)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (f *follower) line(line []byte) {
	output, mark, ours := strings.Cut(string(line), f.nonce)
	if output != "" {
		f.h.Output([]byte(output)) // a test's last line may have no end
	}
	if !ours {
		return
	}
	if !f.begun && f.late != nil {
		f.late.Stop()
	}
	f.begun = true
	word, rest, _ := strings.Cut(strings.TrimSpace(mark), " ")
	switch word {
	case "begin":
		f.h.Begin()
	case "end":
		status := -1
		_, _ = fmt.Sscan(rest, &status)
		f.h.End(status)
	case "unprepared":
		f.unprepared = rest
	case "done":
		f.done = true
	}
}
