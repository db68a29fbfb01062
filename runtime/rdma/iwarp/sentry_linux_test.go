package iwarp

import (
	"testing"
	"time"
)

// stands reports whether there is one.
func (s *sentry) stands() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file != nil
}

// TestSentry ends with the last queue that it looked after, and begins again with the next.
func TestSentry(t *testing.T) {
	needLeaders(t)
	a, b := connectEnds(t, shapes["tcp"])
	a.leads(b)
	s := &a.dom.adapter.sentry
	if !s.stands() {
		t.Fatal("there is none")
	}
	_ = a.q.Close()
	_ = b.q.Close()
	for end := time.Now().Add(patience); s.stands(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it looks after nobody, and stays")
		}
	}
}
