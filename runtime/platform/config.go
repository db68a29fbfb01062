package platform

import (
	"fmt"
	"slices"
)

// Config is what a program wants of a machine. It is composed of options and says nothing by itself: [Config.Resolve]
// holds it against a machine. The zero value wants nothing. A Config is a value: With gives another one.
type Config struct {
	cxl      []ask[CXLCapability]
	bar      *ask[struct{}]
	topology *ask[Topology]
	lock     *ask[uint64]
	huge     *ask[HugeMode]
	limit    uint64 // 0: none
	large    uint64 // 0: never
	wait     WaitMode
	kinds    map[int]MemoryKind
	part     [2]uint64 // of the most memory that there is; 0: all
	optional bool      // options that are applied now ask for what may be lacking
}

// ask is something that a machine may lack.
type ask[T any] struct {
	what     T
	optional bool
}

// Option is a part of a configuration.
type Option func(*Config)

// NewConfig composes a configuration. Later options override earlier ones of the same kind, but for [WithCXL], which adds.
func NewConfig(opts ...Option) Config { return Config{}.With(opts...) }

// With is the configuration with more options.
func (c Config) With(opts ...Option) Config {
	c.cxl = slices.Clone(c.cxl)
	kinds := make(map[int]MemoryKind, len(c.kinds))
	for node, kind := range c.kinds {
		kinds[node] = kind
	}
	c.kinds = kinds
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// Configure composes options and resolves them: the short form.
func Configure(m *Machine, opts ...Option) (*Resolved, error) { return NewConfig(opts...).Resolve(m) }

// Optional makes options ones that may be lacking: what is had instead is in [Resolved.Fallbacks].
func Optional(opts ...Option) Option {
	return func(c *Config) {
		was := c.optional
		c.optional = true
		for _, o := range opts {
			if o != nil {
				o(c)
			}
		}
		c.optional = was
	}
}

// CXLCapability is something of CXL that a machine has or has not. Linux states no version of CXL.
type CXLCapability uint8

// The capabilities.
const (
	CXLDevice     CXLCapability = iota // a memory device, in use or not
	CXLRegion                          // a region that is committed
	CXLMappable                        // a device-dax of CXL memory that programs may map
	CXLNode                            // a node of CXL memory that this process may have memory at
	CXLInterleave                      // a committed region over more than one device
	CXLDurable                         // persistent memory of a device
)

var capabilityNames = [...]string{"a CXL memory device", "a committed CXL region", "CXL memory as device-dax", "a node of CXL memory", "an interleaved CXL region", "persistent CXL memory"}

// String is the capability in words.
func (c CXLCapability) String() string {
	if int(c) >= len(capabilityNames) {
		return fmt.Sprintf("CXL capability %d", uint8(c))
	}
	return capabilityNames[c]
}

// WithCXL asks for capabilities of CXL; without any, for a place where [CXLMappable] or [CXLNode] memory can be had.
func WithCXL(capabilities ...CXLCapability) Option {
	if len(capabilities) == 0 {
		capabilities = []CXLCapability{anyCXL}
	}
	return func(c *Config) {
		for _, what := range capabilities {
			c.cxl = append(c.cxl, ask[CXLCapability]{what, c.optional})
		}
	}
}

// anyCXL is memory of CXL by either way.
const anyCXL CXLCapability = 255

// WithResizableBAR asks for a GPU whose memory the processor can address whole, or could after resizing. It changes no way to reach the memory: see
// [GPUDevice.Resizable].
func WithResizableBAR() Option {
	return func(c *Config) { c.bar = &ask[struct{}]{optional: c.optional} }
}

// Topology is what nodes are wanted.
type Topology struct {
	Only    IDs    // these nodes and no others; empty: all that are usable
	AtLeast int    // so many nodes with processors and memory have to be there
	Near    string // a device ("mlx5_0", "0000:01:00.0"): memory of its node comes first
}

// WithNUMA asks for nodes.
func WithNUMA(t Topology) Option {
	return func(c *Config) { c.topology = &ask[Topology]{t, c.optional} }
}

// WithMemoryLimit bounds what [Resolved.Reserve] gives in all, in bytes; 0 is no bound. What the control group or the machine allows is a bound as well.
func WithMemoryLimit(bytes uint64) Option { return func(c *Config) { c.limit = bytes } }

// HugeMode is whether memory has huge pages.
type HugeMode uint8

// The modes.
const (
	HugeNever HugeMode = iota // ordinary pages
	HugeTry                   // huge pages where there are some, or where the kernel makes some
	HugeMust                  // reserved huge pages: there have to be some
)

// String is a word for the mode.
func (h HugeMode) String() string { return name(h, "never", "try", "must") }

// WithHugePages says what pages memory has. [HugeMust] asks for a pool that has free pages.
func WithHugePages(mode HugeMode) Option {
	return func(c *Config) { c.huge = &ask[HugeMode]{mode, c.optional} }
}

// WaitMode is how a program waits for devices. Package rdma takes it as its Mode.
type WaitMode uint8

// The modes.
const (
	WaitEvent    WaitMode = iota // sleep until the device says so: nothing is burnt
	WaitAdaptive                 // look for some microseconds first
	WaitBusy                     // look all the time: a processor for each that waits
)

// String is a word for the mode.
func (w WaitMode) String() string { return name(w, "event", "adaptive", "busy") }

// WithWait says how to wait. On a machine where this process may use one processor only, looking would keep
// the other side from running: then it is [WaitEvent], which [Resolved.Fallbacks] says.
func WithWait(mode WaitMode) Option { return func(c *Config) { c.wait = mode } }

// WithLockedMemory asks that so many bytes may be locked, which registered memory is.
func WithLockedMemory(bytes uint64) Option {
	return func(c *Config) { c.lock = &ask[uint64]{bytes, c.optional} }
}

// WithLargeFar sends buffers of at least so many bytes to CXL nodes, where there are some with room, and leaves the others near;
// 0 sends none. It asks for nothing.
func WithLargeFar(bytes uint64) Option { return func(c *Config) { c.large = bytes } }

// WithMemoryKind says what the memory of a node is, where one knows better than the files: firmware may bring CXL memory up
// as if it were the machine's own.
func WithMemoryKind(node int, kind MemoryKind) Option {
	return func(c *Config) { c.kinds[node] = kind }
}

func name[T ~uint8](v T, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("mode %d", v)
}
