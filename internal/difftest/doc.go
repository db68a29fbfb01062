// Package difftest has no code, only tests: they hold generated code against
// the reference codec of package schemagen, and both against other
// implementations of BARE, for random schemas, values and damaged messages, for
// the draft's vectors, and for every schema of the corpus.
//
// Generated code is built and run as a program of a scratch module. The runner
// package is linked into it and does the checking there.
//
// DIFFTEST_SEED=n repeats a run; SOAK=1 makes it thousands of schemas.
package difftest
