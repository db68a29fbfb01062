//go:build !linux

package platform

import (
	"context"
	"runtime"
)

// Detect gives a machine of which nothing is known but that it is not Linux: each part's Err is [ErrNotLinux].
func Detect(ctx context.Context) (*Machine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &Machine{System: runtime.GOOS, NUMA: NUMA{Err: ErrNotLinux}}, nil
}
