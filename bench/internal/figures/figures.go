// Package figures is what the reports of all measurements share: medians, numbers
// that can be read, what machine it was, and whether what is wanted is met.
package figures

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Median is the median, 0 of nothing.
func Median(v []float64) float64 { return Quantile(v, 0.5) }

// Quantile is the value that a part q of the values, from 0 to 1, are below: between
// two of them where it falls between. It is 0 of nothing.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	at := q * float64(len(v)-1)
	i := min(int(at), len(v)-1)
	if i == len(v)-1 {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// Number prints about three digits, and thousands apart.
func Number(x float64) string {
	switch {
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	s := fmt.Sprintf("%.0f", x)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// CPU says what machine this is, where the system tells.
func CPU() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		if m := regexp.MustCompile(`(?m)^model name\s*:\s*(.*)$`).FindSubmatch(b); m != nil {
			return string(m[1])
		}
	}
	return "unknown CPU"
}

// Machine is the first line of a report: where it was made.
func Machine() string {
	return fmt.Sprintf("%s, %s/%s, %s, %d CPUs%s", CPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU(), Load())
}

// Load says how busy the machine is, where the system tells, to be put behind other words.
func Load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return ", load " + strings.Fields(string(b))[0]
}
