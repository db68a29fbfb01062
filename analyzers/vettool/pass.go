package vettool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// unit is what matters of the go command's description of a package here.
type unit struct {
	GoFiles     []string
	PackageVetx map[string]string // the facts of each import
	VetxOnly    bool              // facts are wanted, and no findings
	VetxOutput  string
	Stdout      string
}

func readUnit(config string) (u unit, err error) {
	text, err := os.ReadFile(config)
	if err != nil {
		return u, err
	}
	if err := json.Unmarshal(text, &u); err != nil {
		return u, fmt.Errorf("%s: %w", config, err)
	}
	return u, nil
}

// pass passes a package over that has no facts, if facts are all that is wanted: none of its imports has one, and no
// directive stands in it. Then the analyzers have none either.
func (u unit) pass() (done bool, err error) {
	if !u.VetxOnly || u.VetxOutput == "" {
		return false, nil
	}
	for _, name := range u.PackageVetx {
		info, err := os.Stat(name)
		if err != nil {
			return false, err
		}
		if info.Size() > 0 {
			return false, nil
		}
	}
	for _, name := range u.GoFiles {
		found, err := contains(name, []byte("//barewire:"))
		if found || err != nil {
			return false, err
		}
	}
	for _, name := range []string{u.VetxOutput, u.Stdout} {
		if name == "" {
			continue
		}
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			return false, err
		}
	}
	return true, nil
}

// contains reports whether a file has a text. It reads up to 64 KiB at a time.
func contains(name string, text []byte) (found bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	kept := 0
	for {
		n, err := f.Read(buf[kept:])
		if bytes.Contains(buf[:kept+n], text) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		// A text may lie across two reads.
		end := kept + n
		kept = min(len(text)-1, end)
		copy(buf, buf[end-kept:end])
	}
}
