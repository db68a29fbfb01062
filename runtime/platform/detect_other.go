//go:build !linux

package platform

import (
	"context"
	"os"
	"runtime"
)

// Detect gives a machine of which nothing is known but that it is not Linux: each part's Err is [ErrNotLinux].
func Detect(ctx context.Context) (*Machine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &Machine{
		System: runtime.GOOS,
		NUMA:   NUMA{Err: ErrNotLinux}, CXL: CXL{Err: ErrNotLinux}, RDMA: RDMA{Err: ErrNotLinux}, GPU: GPUs{Err: ErrNotLinux},
		Limits: Limits{PageSize: known(uint64(os.Getpagesize()), "getpagesize")},
	}, nil
}
