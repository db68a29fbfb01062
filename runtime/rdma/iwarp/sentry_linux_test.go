package iwarp

// stands reports whether there is one.
func (s *sentry) stands() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file != nil
}
