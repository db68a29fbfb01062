//go:build !linux

package platform

import (
	"context"
	"os"
	"runtime"
)

// Detect gives a machine of which nothing is known but that it is not Linux: each part's Err is [ErrNotLinux].
func Detect(ctx context.Context) (*Machine, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	return elsewhere(runtime.GOOS, uint64(os.Getpagesize())), nil
}
