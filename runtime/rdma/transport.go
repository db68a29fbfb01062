package rdma

import (
	"fmt"
	"slices"
)

// Transport is a kind of network with its settings: [InfiniBand], [RoCEv1],
// [RoCEv2], [IWARP] or [SoftRDMA]. A setting of zero is the transport's default, and
// a setting that a transport does not have is not in its type.
type Transport interface {
	// String is the name as in [DeviceInfo].
	String() string
	// settle puts the settings and the transport's defaults into a configuration, and
	// itself as a value, which is what providers look for.
	settle(*Config) error
}

// InfiniBand is a fabric of its own: packets of 256 to 4096 bytes, reliable and
// in order in hardware.
type InfiniBand struct {
	MTU          int   // 256, 512, 1024, 2048 or 4096; default 4096
	Depth        int   // default 128
	MaxMessage   int   // default 4096
	ServiceLevel uint8 // 0 to 15
}

// RoCEv1 is InfiniBand's transport in Ethernet frames: no router, no DSCP.
type RoCEv1 struct {
	MTU        int   // as InfiniBand; default 1024, which fits a frame of 1500
	Depth      int   // default 128
	MaxMessage int   // default 4096
	Priority   uint8 // of the VLAN tag, 0 to 7
}

// RoCEv2 is InfiniBand's transport in UDP, port 4791.
type RoCEv2 struct {
	MTU        int  // as InfiniBand; default 1024, which fits a frame of 1500
	Depth      int  // default 128
	MaxMessage int  // default 4096
	DSCP       DSCP // default 26, the class that network cards' makers put RDMA in
}

// IWARP is RDMA over TCP (RFC 5040, 5041, 5044).
type IWARP struct {
	MTU        int  // of the IP packets, 576 to 9000; default 1500
	Depth      int  // default 128
	MaxMessage int  // default 4096
	DSCP       DSCP // default 0

	// NoCRC leaves the checksums of RFC 5044 out where the peer wants that too, and the
	// connection stays on one host or is under Config.TLS, which has its own. Anywhere else, and with a
	// peer that does not ask for it, there are checksums: TCP's own let some errors through.
	NoCRC bool
}

// SoftRDMA is memory of this machine, or software that speaks to others.
type SoftRDMA struct {
	MTU        int // bytes that are moved at once, 256 to 65536; default 4096
	Depth      int // default 128
	MaxMessage int // default 4096
}

func (InfiniBand) String() string { return "InfiniBand" }
func (RoCEv1) String() string     { return "RoCEv1" }
func (RoCEv2) String() string     { return "RoCEv2" }
func (IWARP) String() string      { return "iWARP" }
func (SoftRDMA) String() string   { return "SoftRDMA" }

// ibMTUs are the packet sizes that InfiniBand has. Source: InfiniBand
// Architecture Specification, volume 1, section 9.4.1 (path MTU); ibv_modify_qp(3), enum ibv_mtu.
var ibMTUs = []int{256, 512, 1024, 2048, 4096}

func (t InfiniBand) settle(c *Config) error {
	c.Transport = t
	if t.ServiceLevel > 15 {
		return fmt.Errorf("%w: InfiniBand.ServiceLevel is %d, want 0 to 15", ErrConfig, t.ServiceLevel)
	}
	return settle(c, t.String(), t.MTU, t.Depth, t.MaxMessage, 0, 4096, BestEffort)
}

func (t RoCEv1) settle(c *Config) error {
	c.Transport = t
	if t.Priority > 7 {
		return fmt.Errorf("%w: RoCEv1.Priority is %d, want 0 to 7", ErrConfig, t.Priority)
	}
	return settle(c, t.String(), t.MTU, t.Depth, t.MaxMessage, 0, 1024, BestEffort)
}

func (t RoCEv2) settle(c *Config) error {
	c.Transport = t
	return settle(c, t.String(), t.MTU, t.Depth, t.MaxMessage, t.DSCP, 1024, 26)
}

func (t IWARP) settle(c *Config) error {
	c.Transport = t
	return settle(c, t.String(), t.MTU, t.Depth, t.MaxMessage, t.DSCP, 1500, BestEffort)
}

func (t SoftRDMA) settle(c *Config) error {
	c.Transport = t
	return settle(c, t.String(), t.MTU, t.Depth, t.MaxMessage, 0, 4096, BestEffort)
}

// settle merges a transport's settings into a configuration and checks the packet size.
func settle(c *Config, name string, mtu, depth, message int, dscp DSCP, defMTU int, defDSCP DSCP) error {
	if (name == "InfiniBand" || name == "RoCEv1" || name == "SoftRDMA") && c.DSCP != 0 && c.DSCP != BestEffort {
		return fmt.Errorf("%w: %s has no DSCP; leave Config.DSCP 0", ErrConfig, name)
	}
	for _, err := range []error{
		merge(name, "MTU", &c.MTU, mtu, defMTU),
		merge(name, "Depth", &c.Depth, depth, 128),
		merge(name, "MaxMessage", &c.MaxMessage, message, 4096),
		merge(name, "DSCP", &c.DSCP, dscp, defDSCP),
	} {
		if err != nil {
			return err
		}
	}
	switch name {
	case "InfiniBand", "RoCEv1", "RoCEv2":
		if !slices.Contains(ibMTUs, c.MTU) {
			return fmt.Errorf("%w: %s has no MTU of %d, want one of %v", ErrConfig, name, c.MTU, ibMTUs)
		}
	case "iWARP":
		if c.MTU < 576 || c.MTU > 9000 {
			return fmt.Errorf("%w: iWARP.MTU is %d, want 576 to 9000", ErrConfig, c.MTU)
		}
	}
	return nil
}

// merge puts one setting of a transport into the configuration's.
func merge[N int | DSCP](transport, name string, in *N, own, def N) error {
	if *in != 0 && own != 0 && *in != own {
		return fmt.Errorf("%w: Config.%s is %d and %s.%s is %d; give one of them", ErrConfig, name, *in, transport, name, own)
	}
	fill(in, own)
	fill(in, def)
	return nil
}
