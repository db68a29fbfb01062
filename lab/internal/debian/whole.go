package debian

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
)

// Seal notes what is in a file, beside it, so that Whole knows it again. It is for files that are kept: a disk that was full, or a
// machine that was switched off, may have left a part of them.
func Seal(file string) error {
	sum, err := sumOf(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file+sumSuffix, []byte(sum), 0o644)
}

// Whole reports whether a file is as it was sealed.
func Whole(file string) bool {
	want, err := os.ReadFile(file + sumSuffix)
	if err != nil {
		return false
	}
	sum, err := sumOf(file)
	return err == nil && sum == string(want)
}

const sumSuffix = ".sha256"

func sumOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Tidy removes what a lab that was killed has left half done in a cache.
func Tidy(cache string) error {
	for _, pattern := range []string{".fetch-*", ".build-*", "*.new"} {
		left, err := filepath.Glob(filepath.Join(cache, pattern))
		if err != nil {
			return err
		}
		for _, f := range left {
			if err := os.RemoveAll(f); err != nil {
				return err
			}
		}
	}
	return nil
}
