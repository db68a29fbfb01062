package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNeovim drives a Neovim, set up by the file that docs/editors tells people to take,
// over the server: it sees a diagnostic, jumps to a definition, renames, hovers, mends
// and formats.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no nvim here; make deps installs it")
		}
		t.Skip("no nvim here; make deps installs it")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "barewire-gen")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(dir, "telemetry.bare")
	const text = "# Readings.\ntype Reading struct {\n  kind: Kind # é😀\n  value:  Missing\n}\ntype Kind enum { LOW HIGH }\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	setup, err := filepath.Abs("../../docs/editors/nvim/bare.lua")
	if err != nil {
		t.Fatal(err)
	}
	drive, err := filepath.Abs("testdata/nvim/drive.lua")
	if err != nil {
		t.Fatal(err)
	}
	seenFile := filepath.Join(dir, "seen.json")
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, nvim, "--headless", "-u", "NONE", "-n", "-c", "luafile "+setup, "-c", "luafile "+drive)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_DATA_HOME="+dir,
		"BAREWIRE_GEN="+bin, "SCHEMA="+file, "SEEN="+seenFile)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(seenFile)
	if err != nil {
		t.Fatal(err)
	}
	var seen struct {
		Filetype    string
		Diagnostics []struct {
			Line, Column, Severity int
			Message, Source        string
		}
		Cursor             []int
		Hover, Failed      string
		Renamed, Formatted []string
		Errors             int
	}
	if err := json.Unmarshal(b, &seen); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if seen.Failed != "" || seen.Filetype != "bare" || seen.Errors != 0 {
		t.Errorf("%s", b)
	}
	if !slices.ContainsFunc(seen.Diagnostics, func(d struct {
		Line, Column, Severity int
		Message, Source        string
	}) bool {
		return d.Line == 3 && d.Column == 10 && d.Severity == 1 && d.Source == "barewire-gen" && strings.Contains(d.Message, "`Missing` is not declared")
	}) {
		t.Errorf("diagnostics: %s", b)
	}
	if !slices.Equal(seen.Cursor, []int{6, 5}) {
		t.Errorf("the definition is at %v", seen.Cursor)
	}
	if !strings.Contains(seen.Hover, "**castable**, 1 byte") {
		t.Errorf("hover: %s", seen.Hover)
	}
	if want := "  kind: Level # é😀|type Level enum { LOW HIGH }"; !slices.Contains(seen.Renamed, strings.Split(want, "|")[0]) || !slices.Contains(seen.Renamed, strings.Split(want, "|")[1]) {
		t.Errorf("renamed: %q", seen.Renamed)
	}
	want := "# Readings.\ntype Reading struct {\n  kind:  Level # é😀\n  value: u16\n}\ntype Level enum { LOW HIGH }\n"
	now, err := os.ReadFile(file)
	if err != nil || string(now) != want {
		t.Errorf("written: %q, want %q: %v", now, want, err)
	}
}
