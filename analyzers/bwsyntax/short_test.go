package bwsyntax_test

// oneGoroutine is why some tests do not run under the race detector, which is who asks for short ones (make race): a run of the analyzer has
// no goroutine but its own. The others have go vet run all analyzers at once.
const oneGoroutine = "left out under -short: the analyzer starts no goroutine, and other tests have those of the driver"
