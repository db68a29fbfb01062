package bwlife

// OneGoroutine is why most tests do not run under the race detector, which is who asks for short ones (make race). It takes minutes for them,
// and a run of the analyzer has no goroutine but its own. TestCorpus and TestFactsDeterministic run the analyzer on many packages at once.
const OneGoroutine = "it looks at one package after another: nothing for the race detector"
