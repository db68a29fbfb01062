package bwlife

// OneGoroutine is why most tests do not run under the race detector, which is who asks for short ones (make race). It takes minutes for them,
// and a run of the analyzer has no goroutine but its own. TestCorpus and TestFactsDeterministic run the analyzer on many packages at once.
const OneGoroutine = "left out under -short: the analyzer starts no goroutine, and TestCorpus has those of the driver"
