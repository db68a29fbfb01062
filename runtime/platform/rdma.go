package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const (
	ibDir    = "sys/class/infiniband"
	verbsDir = "sys/class/infiniband_verbs"
)

// RDMA is the devices that move memory between machines.
type RDMA struct {
	Err     error        `json:"-"` // why there are none: [ErrNotLinux], [ErrNoRDMA], or what reading gave
	Devices []RDMADevice `json:"devices"`
}

// RDMADevice is one device; drivers in software (rxe, siw) have them too.
type RDMADevice struct {
	Name     string       `json:"name"` // mlx5_0
	Path     string       `json:"path"`
	Address  string       `json:"address,omitempty"` // on the PCI bus; empty for software
	NodeType Fact[string] `json:"node_type"`         // CA (InfiniBand, RoCE), RNIC (iWARP), …
	Firmware Fact[string] `json:"firmware"`
	NUMANode Fact[int]    `json:"numa_node"`
	Verbs    string       `json:"verbs,omitempty"` // the file that programs open: /dev/infiniband/uverbs0; empty: ib_uverbs is not loaded
	Ports    []RDMAPort   `json:"ports"`
}

// RDMAPort is a port of a device.
type RDMAPort struct {
	Number    int          `json:"number"`
	LinkLayer Fact[string] `json:"link_layer"` // InfiniBand or Ethernet
	State     Fact[string] `json:"state"`      // ACTIVE, DOWN, INIT, ARMED
	PhysState Fact[string] `json:"phys_state"` // LinkUp, Disabled, Polling, …
	Rate      Fact[string] `json:"rate"`
	Netdev    Fact[string] `json:"netdev"` // the network interface over it
	// MTU is the network interface's, in bytes; the path's, which is less, no file states.
	MTU  Fact[int] `json:"mtu"`
	GIDs []GID     `json:"gids"`
}

// GID is one of a port's addresses.
type GID struct {
	Index int          `json:"index"`
	GID   string       `json:"gid"`
	Type  Fact[string] `json:"type"` // IB/RoCE v1, RoCE v2
}

// Active reports whether the port can carry traffic.
func (p *RDMAPort) Active() bool { return p.State.Or("") == "ACTIVE" }

// maxGIDs is the most addresses of a port that are looked at; drivers have 256 at most.
const maxGIDs = 4096

func (t *tree) rdma() (r RDMA) {
	names, err := t.names(ibDir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0:
		r.Err = ErrNoRDMA
		return r
	case err != nil:
		r.Err = fmt.Errorf("%s: %w", ibDir, err)
		return r
	}
	verbs := t.verbsFiles()
	for _, name := range names {
		dir := ibDir + "/" + name
		d := RDMADevice{
			Name: name, Path: dir, Verbs: verbs[name],
			NodeType: then(t.text(dir+"/node_type"), behindColon), Firmware: t.text(dir + "/fw_ver"),
			NUMANode: t.nodeOf(dir + "/device"),
		}
		if at := t.linkName(dir + "/device"); at.Known() && strings.Count(at.Value, ":") == 2 {
			d.Address = at.Value
		}
		ports, err := t.numbered(dir+"/ports", "")
		for _, p := range ports {
			if err == nil {
				d.Ports = append(d.Ports, t.port(dir, p))
			}
		}
		r.Devices = append(r.Devices, d)
	}
	return r
}

// verbsFiles is the file of /dev by device.
func (t *tree) verbsFiles() map[string]string {
	files, err := t.numbered(verbsDir, "uverbs")
	if err != nil {
		return nil
	}
	of := map[string]string{}
	for _, f := range files {
		if dev := t.text(verbsDir + "/" + f.name + "/ibdev"); dev.Known() {
			of[dev.Value] = "/dev/infiniband/" + f.name
		}
	}
	return of
}

func (t *tree) port(device string, n numbered) RDMAPort {
	dir := device + "/ports/" + n.name
	p := RDMAPort{
		Number:    n.n,
		LinkLayer: t.text(dir + "/link_layer"),
		State:     then(t.text(dir+"/state"), behindColon),
		PhysState: then(t.text(dir+"/phys_state"), behindColon),
		Rate:      t.text(dir + "/rate"),
	}
	p.GIDs, p.Netdev = t.gids(dir)
	if !p.Netdev.Known() {
		if f := t.netdev(device, n.n); f.Known() {
			p.Netdev = f
		}
	}
	switch {
	case p.Netdev.Known():
		p.MTU = t.integer("sys/class/net/" + p.Netdev.Value + "/mtu")
	default:
		p.MTU = unknown[int](p.Netdev.From, p.Netdev.Err)
	}
	return p
}

// gids reads the addresses that are set, and the network interface of the first.
func (t *tree) gids(port string) (gids []GID, netdev Fact[string]) {
	netdev = unknown[string](port+"/gid_attrs/ndevs", fs.ErrNotExist)
	list, err := t.numbered(port+"/gids", "")
	if err == nil && len(list) > maxGIDs {
		t.missed(port+"/gids", ErrTooLarge)
	}
	if err != nil || len(list) > maxGIDs {
		return nil, netdev
	}
	for _, n := range list {
		f := t.text(port + "/gids/" + n.name)
		if !f.Known() || strings.Trim(f.Value, "0:") == "" {
			continue
		}
		gids = append(gids, GID{n.n, f.Value, t.text(port + "/gid_attrs/types/" + n.name)})
		if !netdev.Known() {
			netdev = then(t.text(port+"/gid_attrs/ndevs/"+n.name), interfaceName)
		}
	}
	return gids, netdev
}

// netdev is the network interface of a port where no address tells: of those on the same PCI device the one
// whose port it is. dev_port counts from 0.
func (t *tree) netdev(device string, port int) Fact[string] {
	dir := device + "/device/net"
	names, err := t.names(dir)
	if err != nil {
		return unknown[string](dir, err)
	}
	for _, name := range names {
		if f := t.integer(dir + "/" + name + "/dev_port"); f.Known() && f.Value == port-1 || len(names) == 1 {
			return known(name, dir)
		}
	}
	return unknown[string](dir, ErrNotTold)
}

// behindColon is the word of "4: ACTIVE".
func behindColon(s string) (string, error) {
	number, word, ok := strings.Cut(s, ":")
	if _, err := strconv.Atoi(number); err != nil || !ok {
		return "", fmt.Errorf("%w: %s is no state", ErrMalformed, quote(s))
	}
	return strings.TrimSpace(word), nil
}

// interfaceName is the name of a network interface, which becomes part of a path.
func interfaceName(s string) (string, error) {
	if s == "" || s != path.Base(s) || s == ".." || s == "." || !fs.ValidPath(s) {
		return "", fmt.Errorf("%w: %s is no network interface", ErrMalformed, quote(s))
	}
	return s, nil
}
