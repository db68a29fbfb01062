package release

import (
	"sync/atomic"
	"testing"
)

// TestStore: who sees a number sees what was stored before it.
func TestStore(t *testing.T) {
	const n = 100_000
	var data [64]int
	var put, taken atomic.Uint64
	done := make(chan bool)
	go func() {
		defer close(done)
		for i := range uint64(n) {
			for put.Load() == i {
			}
			if got := data[i%64]; got != int(i) {
				t.Errorf("%d at %d", got, i)
				return
			}
			Store(&taken, i+1)
		}
	}()
	for i := range uint64(n) {
		for i-taken.Load() == 64 {
			select {
			case <-done:
				return
			default:
			}
		}
		data[i%64] = int(i)
		Store(&put, i+1)
	}
	<-done
}
