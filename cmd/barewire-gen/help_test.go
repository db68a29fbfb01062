package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/machines"
)

// goEnv asks the go command for one of its settings.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// exits runs a command and fails unless it ends with the exit code wanted:
//
//	exec exits 2 barewire-gen check missing.bare
//
// Testscript by itself only knows success and failure.
func exits() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: exits code command [argument]...")
		os.Exit(99)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	code := 0
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "exits:", err)
		os.Exit(99)
	}
	if fmt.Sprint(code) != os.Args[1] {
		fmt.Fprintf(os.Stderr, "exits: %s ended with %d, want %s\n", strings.Join(os.Args[2:], " "), code, os.Args[1])
		os.Exit(1)
	}
}

// machine unpacks a captured machine into a directory that it makes:
//
//	exec machine cxl-stageB-sysram captured
func machine() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: machine name directory")
		os.Exit(99)
	}
	err := os.Mkdir(os.Args[2], 0o755)
	if err == nil {
		err = machines.Unpack(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "machine:", err)
		os.Exit(1)
	}
}
