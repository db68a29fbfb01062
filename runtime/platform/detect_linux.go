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
	return m, nil
}
