// Package release has stores that order less than those of sync/atomic, and take less: for
// words that one goroutine at a time writes, to say that what it wrote before is there.
package release
