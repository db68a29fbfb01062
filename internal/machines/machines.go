// Package machines has captured machines: trees of the files that Linux shows, cut down to those that
// runtime/platform reads. Tests read them, and the benchmark.
//
// data/README.md says where they come from and under which licences. Command trim makes them.
package machines

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"
	"time"
)

//go:embed data
var data embed.FS

// Expected is the JSON of what is known of each machine from elsewhere: by tools of others and by hand.
func Expected() ([]byte, error) { return data.ReadFile("data/FACTS.json") }

// Names is the machines there are, sorted.
func Names() (names []string) {
	entries, err := data.ReadDir("data")
	if err != nil {
		return nil // it is embedded
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".tar.gz"); ok {
			names = append(names, name)
		}
	}
	return names
}

// FS is a machine's root, in memory.
func FS(name string) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	err := each(name, func(h *tar.Header, content []byte) error {
		f := &fstest.MapFile{Data: content, Mode: h.FileInfo().Mode(), ModTime: time.Unix(0, 0)}
		if h.Typeflag == tar.TypeSymlink {
			f.Data = []byte(h.Linkname)
		}
		files[strings.TrimSuffix(h.Name, "/")] = f
		return nil
	})
	return files, err
}

// Unpack writes a machine's root into a directory that exists.
func Unpack(name, dir string) error {
	return each(name, func(h *tar.Header, content []byte) error {
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("%s is not below the root", h.Name)
		}
		to := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir:
			return os.MkdirAll(to, 0o755)
		case tar.TypeSymlink:
			return os.Symlink(h.Linkname, to)
		}
		return os.WriteFile(to, content, 0o644)
	})
}

// each gives what is in an archive.
func each(name string, do func(h *tar.Header, content []byte) error) error {
	packed, err := data.ReadFile("data/" + name + ".tar.gz")
	if err != nil {
		return fmt.Errorf("no captured machine is called %s; there are %s", name, strings.Join(Names(), ", "))
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := do(h, content); err != nil {
			return err
		}
	}
}

// Modes of what is in an archive: they say nothing of the machine.
const (
	DirMode  = fs.ModeDir | 0o755
	FileMode = 0o644
)
