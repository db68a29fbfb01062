package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/lab/internal/debian"
)

// script is a Handler that remembers.
type script struct{ said []string }

func (s *script) Begin()          { s.said = append(s.said, "begin") }
func (s *script) Output(b []byte) { s.said = append(s.said, string(b)) }
func (s *script) End(status int)  { s.said = append(s.said, fmt.Sprint("end ", status)) }
func (s *script) String() string  { return strings.Join(s.said, "|") }
func follows(text string) (s script, f follower) {
	f = follower{nonce: "@@N ", h: &s}
	f.follow(strings.NewReader(text))
	return s, f
}

func TestFollow(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		begun, done      bool
		unprepared       string
	}{
		{"all of it", "@@N begin\na\nb\n@@N end 0\n@@N done\n", "begin|a\n|b\n|end 0", true, true, ""},
		{"a line without end", "@@N begin\na@@N end 3\n", "begin|a|end 3", true, false, ""},
		{"another's mark", "@@N begin\n@@M end 0\n", "begin|@@M end 0\n", true, false, ""},
		{"no status", "@@N end x\n", "end -1", true, false, ""},
		{"a setup that fails", "@@N unprepared setup x\n", "", true, false, "setup x"},
		{"nothing", "", "", false, false, ""},
		{"a death in the midst", "@@N begin\nab", "begin|ab", true, false, ""},
	} {
		s, f := follows(c.text)
		if s.String() != c.want || f.begun != c.begun || f.done != c.done || f.unprepared != c.unprepared {
			t.Errorf("%s: %q, begun %v, done %v, unprepared %q", c.name, s.String(), f.begun, f.done, f.unprepared)
		}
	}
	long := strings.Repeat("x", 200000)
	if s, _ := follows("@@N begin\n" + long + "\n@@N end 0\n"); strings.Join(s.said[1:len(s.said)-1], "") != long+"\n" {
		t.Errorf("a long line came as %d pieces", len(s.said)-2)
	}
}

// TestPresets has a shell read each setup, and names be different.
func TestPresets(t *testing.T) {
	var names []string
	for _, p := range Presets {
		cmd := exec.Command("sh", "-n")
		cmd.Stdin = strings.NewReader("setup() {\n" + p.Setup + "\n}\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", p.Name, err, out)
		}
		if found, err := ByName(p.Name); err != nil || found != p || slices.Contains(names, p.Name) || p.About == "" || p.Guests < 1 {
			t.Errorf("%+v", p)
		}
		names = append(names, p.Name)
	}
	if _, err := ByName("none"); err == nil {
		t.Error("there is a preset none")
	}
}

// qemu puts a script in the place of QEMU.
func qemu(t *testing.T, text string) *Guest {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "qemu-system-x86_64"), []byte("#!/bin/sh\ncd "+dir+"\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return &Guest{Preset: numa, Number: 1, Kernel: &debian.Kernel{Series: "6.1", Dir: dir}, Dir: dir, Nonce: "@@N"}
}

// TestBoot has machines end as they may.
func TestBoot(t *testing.T) {
	for _, c := range []struct {
		name, text, said, want string
	}{
		{"well", `echo "@@N begin"; echo x; echo "@@N end 0"; echo "@@N done"`, "begin|x\n|end 0", ""},
		{"in the midst", `echo "@@N begin"; echo x`, "begin|x\n", "it switched itself off"},
		{"in the setup", `echo "@@N unprepared setup"`, "", "its setup failed"},
		{"by QEMU", `echo "@@N begin"; echo no such device >&2; exit 1`, "begin", "no such device"},
		{"early, once", `[ -e been ] || { touch been; exit 0; }; echo "@@N done"`, "", ""},
		{"early, always", `echo no kernel >&2; exit 1`, "", "no kernel"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s script
			err := qemu(t, c.text).Boot(context.Background(), &s)
			if s.String() != c.said || (err == nil) != (c.want == "") || err != nil && (!errors.Is(err, ErrDied) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, said %q", err, s.String())
			}
		})
	}
}

// TestBootTooLong ends a machine that does not end.
func TestBootTooLong(t *testing.T) {
	g := qemu(t, `echo "@@N begin"; echo $$ > pid; exec sleep 1000`)
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Boot(ctx, &script{}) }()
	for {
		if b, err := os.ReadFile(filepath.Join(g.Dir, "pid")); err == nil && len(b) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel(errors.New("enough"))
	if err := <-done; !errors.Is(err, ErrDied) || !strings.Contains(err.Error(), "enough") {
		t.Error(err)
	}
	pid, _ := os.ReadFile(filepath.Join(g.Dir, "pid"))
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
		t.Error("it runs still")
	}
}

// TestQuirks wants what newer kernels need of QEMU 7.2 to be there for them only.
func TestQuirks(t *testing.T) {
	for series, want := range map[string]bool{"6.1": false, "6.12": true} {
		g := &Guest{Preset: cxl, Number: 1, Kernel: &debian.Kernel{Series: series}, Dir: "/x"}
		args := strings.Join(g.args(), " ")
		if strings.Contains(args, "pci=nomsi") != want || strings.Contains(args, "hypervisor=off") != want {
			t.Errorf("%s: %s", series, args)
		}
		if !strings.Contains(args, "path=/x/files") {
			t.Errorf("%s: the guest does not see the host's files", series)
		}
	}
}
