package main

import (
	"os"
	"testing"
	"time"
)

// TestRun runs each row for a moment: that it works.
func TestRun(t *testing.T) {
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			err := run(1, time.Microsecond, l.name)
			if err != nil && os.Getenv("CI") == "" {
				t.Skipf("this needs what it says: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
