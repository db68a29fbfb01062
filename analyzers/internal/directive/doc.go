// Package directive reads the comments by which code tells the analyzers what
// its types and functions do. They stand where //go: directives do, without a space:
//
//	//barewire:type KIND             on a type: what a value of it is
//	//barewire:residency NAME        on a marker type: where memory lives
//	//barewire:access NAME           on a marker type: who may reach it; on a field or its getter: what the reference there is good for
//	//barewire:node N                on a type: memory whose type is it, or has it as a type argument, is on the NUMA node N
//	//barewire:schema NAME@sha256:H  on a method: its receiver is an element of that schema, with that hash
//	//barewire:effect CLAUSE, …      on a function or method: what a call does
//	//barewire:generated             on a function: only generated code may use it
//	//barewire:trust REASON          on a function, or a package: the effects are not inferred from bodies
//	//barewire:ignore CODE REASON    on a line, or above it: a finding that is none
//
// A package that is trusted may also make zero values of handles, and use what is for generated code.
//
// KIND is one of
//
//	handle   memory that whoever has it releases, once; or what was opened to have some
//	window   access that was borrowed from a handle; whoever opened it ends it, once
//	op       an operation in flight: somebody waits until it has ended
//	view     a value that is good as long as what it is of: a span, a slice, an element
//	remote   a reference to the memory of a peer
//	queue    what collects operations, which start later
//	domain   what memory and connections belong to, which are good together only
//	place    where a schema lets memory live
//	grant    what a schema lets peers do
//	capability  what a peer granted, as it travels: nobody makes one up
//	witness  that a device was asked, and what it said
//
// A clause is a verb and what it is about: the name of a parameter or of the
// receiver, or the number of a result.
//
//	looks=P              P may be good or not: nothing happens to it
//	uses=P               P must be good, and stays so
//	optional=P           P may be nil, or the zero value: that is good, too
//	releases=P           P must be good, and is no more: closed, ended
//	moves=P              the same, and the memory goes on in another handle
//	waits=P              the operation P has ended
//	flushes=P            all operations that were posted on P have ended
//	keeps=P              P is somebody else's to release from now on
//	fresh=R              the result R is new, and the caller's to release
//	borrows=R of P       R is a window on P
//	maps=R of P          the same, and while it is open no device works on P
//	carves=R of P        R is a handle of its own, on memory of P: P is released after it
//	starts=R of P        R is an operation that has P until it has ended
//	fills=R of P         the same, and the operation writes P; the others at most read it
//	views=R of P         R is good as long as P is
//	views=R of P at I    and is of the element of P with the number I
//	views=R of P at I count N   or of N elements from it on
//	views=R of P at all  or of all
//	starts=R of P at all        or the operation is about all of P; of spans it is about their elements
//	counts=R of P        R is how many elements P has
//	reads=P              memory that P is a view of is read
//	writes=P             or written
//	hears=P              it waits for what comes from P: the program may learn by it that operations have ended
//	acquires=P           the host may touch the memory of P from now on
//	yields=P             and no more: it may be somewhere else
//	needs=P              P must have been acquired; views that the call gives are good until P is yielded
//	excludes=P           a device works on P from now on: the host must have it neither acquired nor mapped
//	cleans=P             what the host wrote to the memory of P is written back, where others see it
//	hands=P              others look at P from now on: what was written has to be written back before
//	refers=R of P at I   R is what a peer reaches P by, from the element I on; also "at all"
//	places=P             what is posted is in the memory that P refers to when it was flushed, or somebody said so: not before
//	node=R of A          the memory of the result R is on the node of A; of several the first that is no constant below 0
//	migrates=P           the memory of P may be on another node from now on
//	pins=A               the goroutine's thread runs on the node of A from now on
//	runs=F of A          the function F is called on a thread that runs on the node of A, and not after the call
//	alias=R of P         R is P
//	within=R of P        R belongs to the domain P, or to that of P
//	meets=P of Q         P and Q have to belong to the same domain
//	ends=F of R          the result F is a function that ends the result R
//	address=R of P       R is the number by which devices and peers find P: no pointer of Go
//	narrows=R of P       R is P with the rights of its type; the call fails unless P has all of them
//	tells=R              the result R, an error, says whether the call did what it is for: somebody looks at it
//	names=P              peers meet under the name P, and expect the same schema
//	lends=F of P         the function F is called with a window on P, which ends when it returns
//
// The node of A is the number that A is, that the type of A fixes, or that the call fixes which made A: a place's numa(N). A may also be a type
// parameter. A constant below 0 is no node.
//
// "on" says when: "on ok" if the last result, an error, is nil, "on fail" if it is
// not, "on true" and "on false" for a last result that is a bool. A call that
// fails changes nothing of what is "on ok"; but of what it was to release nothing is known then. Several verbs may be about the same parameter:
//
//	//barewire:effect moves=r on ok, fresh=0 on ok
//	func Register(dom *Domain, r *Region, g Grant) (*Region, error)
//
// Words that are not here are errors: a slip would turn a check off without a word.
package directive
