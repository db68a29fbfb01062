// Package bwlife follows regions, windows and operations along the paths of a program, and reports what goes
// wrong in their lives: used after they ended, ended twice or never, ended while something is in the way.
//
// # One object at a time
//
// For each call that makes a handle, and each parameter that is one or has one in a field, the function is run once (run,
// exec.go): symbolically, over SSA form, with this one object in mind. So unrelated handles do not multiply each other's ways. What
// comes from the object (windows on a region, operations on it, views) is followed with it, as objects with a parent.
//
// # Slices
//
// A run does not go through the whole function, but through the slice of it that matters for its object (slice.go): the instructions that
// may touch the object or what leads to it, what these need to be known, and the tests that decide on the way to them. From block to block it goes by hops
// that leave out what lies between (paths.go); of ways out that return the same it takes one. So the cost of a function is that of
// what happens to each of its objects, and grows with their number only. What is the same for all runs is worked
// out once (flow.go): who uses what, what calls do, what may be known of a condition before it is tested (variable.go). Some instructions
// matter that do not touch the object: those that may wait for its operations and goroutines, and calls, which may change memory that is not the function's alone. They are
// ambient: passed over by states in which there is no operation and no such memory.
//
// TestSlices holds slices to whole functions: they find the same.
//
// # States
//
// A state is one way to come to a block: what is known of values and of memory, the object's phase, conditions that hold,
// and the deferred calls that wait. Values (value.go) are constants, symbols that stand for what is not known but stays the same,
// conditions, addresses, closures, structs, objects. Memory is by place: a root and a path of fields, so that a handle
// in a field of a local struct, or of one that was passed, is the same handle. States that are the same are
// run once; what is dead by liveness is dropped from them, which makes them the same soon (collect). More than a few dozen states at a
// block, or more facts in all states together than a bound, and the run is given up: nothing is said, and nothing known of the parameter. So a
// run has a bound on its memory as on its steps; and a function of which it takes too much memory to say what is live is not looked at.
//
// Conditions keep ways apart that belong apart: a flag that is tested twice, an error that is nil where the handle is not, io.EOF and
// errors.Is, integers compared with constants, small numbers that are counted up and down (count.go). What is read or asked for twice is
// taken to be the same, outside loops, as long as nothing else is known (asked.go, flags.go): that way there are fewer ways, and no finding rests on two answers to one question. A call that may fail goes two ways. On the one where it failed nothing is reported as long as
// nobody looked at the error: hopes are such assumptions, and a test of the error settles them. So programs whose tests
// are hidden, in require.NoError say, are not blamed for the way that cannot be.
//
// # Calls
//
// Function literals, and functions of the package that are given one, are run in place, with the state of the caller,
// also where they are deferred; so are functions that only work an answer out, of flags, numbers, errors and structs of them (answers.go): what they say tells
// what they were asked. So are the bodies of range-over-func loops, not at all, once and twice where the iterator is not
// at hand. All other functions are known by their effects (facts.Func): for each parameter (or field in it) the
// cases in which a call may go, with what holds of arguments and results in it, what becomes of the handle, and which results come from it.
// A caller goes each way whose conditions are possible. Effects are written down as directives or inferred, functions
// that are called before those that call; in a cycle nothing is known. A call of which nothing is known loses the object, and with it the way.
//
// # Operations
//
// Operations on a connection end in the order in which they were posted, so a wait for one ends those before it; Flush, Drain and Close end
// all, and a call through an interface or a function value may. An operation that has no name is left to them; one with a name
// is to be waited for on every way, but on those that return an error.
//
// Views and operations have an extent (inflight.go): which elements they are about, as far as arguments of calls say so. Memory that is touched by way of a
// view while an operation has it is a finding where the elements surely are the operation's, it surely was posted and not only collected, and nothing came in
// between by which the program may have learned that it has ended. Which functions read and write what they are given is inferred
// (touched.go). A wait that failed because its context ended leaves its operation in flight.
//
// # Memory that has to be acquired
//
// What directives say of memory that the host may touch only between two calls, and of writes that have to be written back, is noted as objects beside the
// handle (guard.go). On which node memory is (node.go), and a goroutine (numa.go), is no matter of paths: both have to
// be known, by constants, by types that fix a node, or by places.
//
// # Handles of others
//
// A handle that comes out of a map, a slice, a channel, an interface or an unknown call is somebody else's to release, so that nothing is missed when
// nobody does. But after it was released it is no more, as any other (found.go). The same goes for handles in
// fields of what comes from there, but not of what unknown calls give.
//
// # Goroutines
//
// A handle that a goroutine is given is lost to the analysis. With the flag joins it is followed further, if the goroutine surely only
// uses it: what ends it before something was waited for, whatever it is, is a finding.
//
// # Domains
//
// What belongs to which domain is no matter of paths: SSA values are followed back to the call that made the domain, or to a parameter
// (domain.go). Two that were made by different calls are different, and one that is made in a function is no parameter's.
//
// # Not done yet
//
// A slice that an operation fills is followed in the function that starts it only. Loops are not counted: only the first turn of one over constants is sure. Handles deeper than two fields in a parameter are not
// followed. What a function does by methods
// of an interface or a type parameter is not inferred, but for Close (closable.go).
package bwlife
