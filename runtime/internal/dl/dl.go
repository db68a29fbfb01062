// Package dl opens C libraries at run time and calls their functions, without cgo.
//
// Calls of the control path go through [Lib.Call], which gives errno: it is a variable of the thread, so the goroutine
// keeps its thread from before errno is cleared until it was read. Calls of the data path go through [Fast], whose
// functions return their errors, and which allocates nothing.
//
// Arguments are numbers and addresses of memory outside the Go heap.
package dl
