package bad

import (
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// locked is memory behind a mutex.
type locked struct {
	mu     sync.Mutex
	quotes *U
}

func (l *locked) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.quotes.Close()
}

// BadLocked closes twice: the mutex makes no difference.
func BadLocked(n int) error {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return err
	}
	l := &locked{quotes: r}
	if err := l.close(); err != nil {
		return err
	}
	return r.Close() // want "BW5102 .r. .* was ended by close before"
}

// BadWindowLocked closes the region while its window is open.
func (s *locked) BadWindowLocked() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := barewire.Open(s.quotes)
	if err != nil {
		return err
	}
	defer w.Close()
	return s.quotes.Close() // want "BW5107 .s.quotes. .* is ended by Close while a window"
}
