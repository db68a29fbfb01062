// Trim cuts a captured machine down to the files that runtime/platform reads, and packs them.
//
//	go run ./internal/machines/trim ROOT OUT.tar.gz
//
// It runs the detector over ROOT, keeps each file that was opened, each link on the way to it, and of the
// directories that were listed the names of directories and links, and all files where there are only files; then it runs the detector over what was kept, which has to find the same.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/fidelityframework/barewire-gen/internal/machines"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: trim ROOT OUT.tar.gz")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "trim:", err)
		os.Exit(1)
	}
}

func run(root, out string) error {
	r := &recorder{fsys: os.DirFS(root).(fs.ReadLinkFS), kept: fstest.MapFS{}}
	before, err := detect(r)
	if err != nil {
		return err
	}
	after, err := detect(r.kept)
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		return fmt.Errorf("what was kept is another machine:\n%s\n%s", before, after)
	}
	packed, err := pack(r.kept)
	if err != nil {
		return err
	}
	return os.WriteFile(out, packed, 0o666)
}

func detect(fsys fs.FS) ([]byte, error) {
	m, err := platform.DetectFS(context.Background(), fsys)
	if err != nil {
		return nil, err
	}
	return json.Marshal(m)
}

// recorder is a file system that keeps what is read of another.
type recorder struct {
	fsys fs.ReadLinkFS
	kept fstest.MapFS
}

// Open opens a file, and keeps it.
func (r *recorder) Open(name string) (fs.File, error) {
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	real, err := r.resolve(name)
	if err != nil {
		return f, nil // it was opened all the same, so it is for the comparison to say
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		content, err := fs.ReadFile(r.fsys, name)
		if err == nil {
			r.kept[real] = &fstest.MapFile{Data: content, Mode: machines.FileMode}
		}
		return f, nil
	}
	if r.kept[real] == nil && real != "." {
		r.kept[real] = &fstest.MapFile{Mode: machines.DirMode}
	}
	entries, err := fs.ReadDir(r.fsys, name)
	flat := !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.Type().IsRegular() })
	for _, e := range entries {
		at := path.Join(real, e.Name())
		switch {
		case err != nil:
		case e.Type()&fs.ModeSymlink != 0:
			if to, err := r.fsys.ReadLink(at); err == nil {
				r.kept[at] = link(to)
			}
		case e.IsDir() && r.kept[at] == nil:
			r.kept[at] = &fstest.MapFile{Mode: machines.DirMode}
		case flat: // as ACPI's tables, of which it counts that there are some
			if content, err := fs.ReadFile(r.fsys, at); err == nil {
				r.kept[at] = &fstest.MapFile{Data: content, Mode: machines.FileMode}
			}
		}
	}
	return f, nil
}

// ReadLink reads a link, and keeps it.
func (r *recorder) ReadLink(name string) (string, error) {
	to, err := r.fsys.ReadLink(name)
	if err == nil {
		if dir, rerr := r.resolve(path.Dir(name)); rerr == nil {
			r.kept[path.Join(dir, path.Base(name))] = link(to)
		}
	}
	return to, err
}

// Lstat is there for [fs.ReadLinkFS].
func (r *recorder) Lstat(name string) (fs.FileInfo, error) { return r.fsys.Lstat(name) }

func link(to string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
}

// resolve is a path without links; the links that were on it are kept.
func (r *recorder) resolve(name string) (string, error) {
	at := "."
	rest := strings.Split(name, "/")
	for steps := 0; len(rest) > 0; steps++ {
		if steps > 255 {
			return "", errors.New("too many links")
		}
		next := path.Join(at, rest[0])
		rest = rest[1:]
		if !fs.ValidPath(next) {
			return "", errors.New("a link leads out")
		}
		info, err := r.fsys.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		to, err := r.fsys.ReadLink(next)
		if err != nil {
			return "", err
		}
		r.kept[next] = link(to)
		rest = append(strings.Split(path.Join(at, to), "/"), rest...)
		at = "."
	}
	return at, nil
}

// pack makes an archive, the same for the same files.
func pack(files fstest.MapFS) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, name := range slices.SortedFunc(maps.Keys(files), cmp.Compare[string]) {
		f := files[name]
		h := &tar.Header{Name: name, Mode: int64(f.Mode.Perm()), Format: tar.FormatPAX}
		switch {
		case f.Mode&fs.ModeSymlink != 0:
			h.Typeflag, h.Linkname = tar.TypeSymlink, string(f.Data)
		case f.Mode.IsDir():
			h.Typeflag, h.Name = tar.TypeDir, name+"/"
		default:
			h.Typeflag, h.Size = tar.TypeReg, int64(len(f.Data))
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(f.Data); err != nil {
				return nil, err
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
