// Package analyzers finds, in programs that use the runtime, what the compiler cannot.
package analyzers
