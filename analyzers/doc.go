// Package analyzers finds, in programs that use the runtime, what the compiler cannot.
//
// Types say where memory lives and who may reach it; the compiler holds calls to that. What types cannot say
// in Go is when: that a region is used before it is closed and not after, that it is closed at all, that
// an operation has ended before its memory is used again. And types can be got around, by unsafe, by literals. So there are
// two analyzers:
//
//   - bwsyntax looks at the text of a program only: handles that are made or laundered, directives that are wrong.
//   - bwlife follows handles along the paths of functions, and what functions do to them through calls.
//
// # Where the knowledge comes from
//
// No analyzer knows the runtime by its import path or the names of its functions: forks, vendored copies and wrappers
// are as good. Types and functions say what they are in //barewire: directives (package internal/directive has the
// list); the analyzers read them where the package is compiled, and carry them to those who import it as facts
// (package internal/facts). What functions without directives do is inferred from their bodies, and
// carried the same way. A package with //barewire:trust in its documentation is not inferred: the runtime itself, whose bodies do not show in
// Go's types what they do to a generation.
//
// A package that has no directive and imports none that knows the runtime costs a look at its
// comments. SSA form is built for the others only, by hand: requiring the pass for it would build it for
// all packages of a program, the standard library too.
//
// # What is reported
//
// Only what happens on a way through the function that is surely possible, with everything on it known. Whatever
// the analysis does not understand ends that way in silence: a handle in an unknown call, a goroutine, too many ways. A wrong
// finding costs more than one that is missed, which the runtime's own checks still catch.
//
// Each finding has a code (schema/diag, BW5xxx) with an explanation, begins with the handle, and names the places
// where the handle was made and where it ended as related positions. //barewire:ignore with the code and a reason takes one
// back; an ignore that has nothing to ignore is reported.
package analyzers
