package platform

// LargeBuffer is where presets begin to send buffers to CXL nodes.
const LargeBuffer = 512 << 20

// DataScience is for few large arrays and long runs: buffers from [LargeBuffer] on go to CXL memory where there is some, huge pages
// where there are some, waiting that burns little, and a quarter of the machine's memory left to others.
func DataScience() Option {
	return func(c *Config) {
		Optional(WithCXL(CXLNode), WithHugePages(HugeTry))(c)
		WithLargeFar(LargeBuffer)(c)
		WithWait(WaitAdaptive)(c)
		c.share(3, 4)
	}
}

// LowLatency is for answers in microseconds: memory near the processors only, whatever its size, reserved huge pages where there are some, a gigabyte of
// locked memory, and waiting that looks all the time.
func LowLatency() Option {
	return func(c *Config) {
		Optional(WithHugePages(HugeMust), WithLockedMemory(1<<30))(c)
		WithLargeFar(0)(c)
		WithWait(WaitBusy)(c)
	}
}

// EmbeddedHighPerformance is for a machine with little memory that does one thing: ordinary pages, since huge ones waste; half of the
// memory; waiting that looks for a moment and then sleeps.
func EmbeddedHighPerformance() Option {
	return func(c *Config) {
		WithHugePages(HugeNever)(c)
		WithLargeFar(0)(c)
		WithWait(WaitAdaptive)(c)
		c.share(1, 2)
	}
}

// DataCenter is for one of many services on a large machine: sleep while nothing happens, buffers from [LargeBuffer] on to CXL memory where there is some,
// huge pages where there are some, and what the control group allows.
func DataCenter() Option {
	return func(c *Config) {
		Optional(WithCXL(), WithHugePages(HugeTry))(c)
		WithLargeFar(LargeBuffer)(c)
		WithWait(WaitEvent)(c)
	}
}

// FromDetected asks for what a machine has: its CXL capabilities, a resizable BAR if there is one, as many nodes, and as much memory as its
// limit. Held against the same machine it lacks nothing; held against another it says in what that one is less.
func FromDetected(m *Machine) Option {
	return func(c *Config) {
		if m == nil {
			return
		}
		for what := range CXLCapability(len(capabilityNames)) {
			if m.lacksCXL(what) == nil {
				WithCXL(what)(c)
			}
		}
		if m.lacksBAR() == nil {
			WithResizableBAR()(c)
		}
		if n := m.NUMA.near().Len(); n > 0 {
			WithNUMA(Topology{AtLeast: n})(c)
		}
		if len(m.Limits.HugePages) > 0 {
			WithHugePages(HugeTry)(c)
		}
		if lock := m.Limits.MayLock(); lock.Known() {
			WithLockedMemory(lock.Value)(c)
		}
		if most, _ := m.mostMemory(); most != Unlimited {
			WithMemoryLimit(most)(c)
		}
		if m.processors() > 1 {
			WithWait(WaitAdaptive)(c)
		}
		if !m.NUMA.OfKind(MemoryKind.IsCXL).Empty() {
			WithLargeFar(LargeBuffer)(c)
		}
	}
}
