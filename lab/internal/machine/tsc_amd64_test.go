package machine

import "testing"

// TestTSC: the rate is one that processors have, and the same when it is looked for again.
func TestTSC(t *testing.T) {
	a, b := tscKHz(), tscKHz()
	if a < 500_000 || a > 10_000_000 {
		t.Errorf("%d kHz", a)
	}
	if d := float64(a)/float64(b) - 1; d < -0.01 || d > 0.01 {
		t.Errorf("%d kHz, then %d", a, b)
	}
}
