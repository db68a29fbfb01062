package platform

import (
	"context"
	"os"
)

// Detect reads this machine.
func Detect(ctx context.Context) (*Machine, error) {
	m, err := DetectFS(ctx, os.DirFS("/"))
	if err != nil {
		return nil, err
	}
	m.Root = "/"
	m.Limits.PageSize = known(uint64(os.Getpagesize()), "getpagesize(2)")
	return m, nil
}
