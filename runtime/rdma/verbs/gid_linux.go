//go:build amd64 || arm64

package verbs

import (
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// sysfs is where the kernel shows its RDMA devices.
var sysfs = os.DirFS("/sys/class/infiniband")

// gid is an entry of a port's table of addresses.
type gid struct {
	index int
	kind  kind
	addr  netip.Addr // of IPv4 where it is mapped
	raw   [16]byte
	dev   string // the network interface
}

// gids is a port's table. The library asks the kernel for all of it at once since rdma-core 32; sysfs has a file for each of what may be
// 1024 entries. Source: ibv_query_gid_table(3).
func (lib *library) gids(c uintptr, device string, port, entries int) []gid {
	if lib.queryGIDs == 0 {
		return readGIDs(sysfs, device, port)
	}
	b, err := abi.NewBlock(max(entries, 1) * abi.GIDEntrySize)
	if err != nil {
		return readGIDs(sysfs, device, port)
	}
	defer b.Free()
	n, _ := dl.Call(lib.queryGIDs, c, b.Addr(0), uintptr(entries), 0, abi.GIDEntrySize)
	if int(n) < 0 || int(n) > entries {
		return readGIDs(sysfs, device, port)
	}
	var gids []gid
	for at := 0; at < int(n)*abi.GIDEntrySize; at += abi.GIDEntrySize {
		if int(b.U32(at+abi.GIDEntryPort)) != port {
			continue
		}
		g := gid{index: int(b.U32(at + abi.GIDEntryIndex)), raw: [16]byte(b.Bytes(at+abi.GIDEntryGID, 16)), kind: kindInfiniBand}
		g.addr = netip.AddrFrom16(g.raw).Unmap()
		switch b.U32(at + abi.GIDEntryType) {
		case abi.GIDTypeRoCEv1:
			g.kind = kindRoCEv1
		case abi.GIDTypeRoCEv2:
			g.kind = kindRoCEv2
		}
		if i, err := net.InterfaceByIndex(int(b.U32(at + abi.GIDEntryNetdev))); err == nil {
			g.dev = i.Name
		}
		gids = append(gids, g)
	}
	slices.SortFunc(gids, func(a, b gid) int { return a.index - b.index })
	return gids
}

// readGIDs reads a port's table from sysfs: entries without an address are left out. Source: kernel
// Documentation/ABI/stable/sysfs-class-infiniband (gids, gid_attrs).
func readGIDs(sys fs.FS, device string, port int) (gids []gid) {
	dir := path.Join(device, "ports", strconv.Itoa(port))
	entries, err := fs.ReadDir(sys, path.Join(dir, "gids"))
	if err != nil {
		return nil
	}
	text := func(name, i string) string {
		b, err := fs.ReadFile(sys, path.Join(dir, name, i))
		if err != nil {
			return "" // the kernel answers EINVAL for entries that are empty
		}
		return strings.TrimSpace(string(b))
	}
	for _, e := range entries {
		index, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		addr, err := netip.ParseAddr(text("gids", e.Name()))
		if err != nil || !addr.Is6() || addr.IsUnspecified() {
			continue
		}
		g := gid{index: index, raw: addr.As16(), addr: addr.Unmap(), dev: text("gid_attrs/ndevs", e.Name())}
		if g.raw == [16]byte{0xfe, 0x80} { // a prefix without a number: nothing is there
			continue
		}
		switch text("gid_attrs/types", e.Name()) {
		case "RoCE v2":
			g.kind = kindRoCEv2
		case "IB/RoCE v1":
			g.kind = kindRoCEv1
		default:
			g.kind = kindInfiniBand
		}
		gids = append(gids, g)
	}
	slices.SortFunc(gids, func(a, b gid) int { return a.index - b.index })
	return gids
}

// fits reports whether a connection of a kind of network may use an entry. The table of an InfiniBand port calls its entries as
// those of RoCE v1.
func (g *gid) fits(k kind) bool {
	return g.kind == k || k == kindInfiniBand && g.kind == kindRoCEv1
}

// choose takes the entry for a connection: that with the address that the exchange's own connection has on this side, else
// the first of an address that goes further than the link, else the first. Where the peer has chosen, the entry must be of
// its family of addresses: a device cannot reach one from the other.
func choose(gids []gid, k kind, index int, local netip.Addr, peer *netip.Addr) (gid, error) {
	var fitting []gid
	for _, g := range gids {
		if index > 0 && g.index != index-1 || !g.fits(k) || peer != nil && k != kindInfiniBand && peer.Is4() != g.addr.Is4() {
			continue
		}
		fitting = append(fitting, g)
	}
	local = local.Unmap().WithZone("")
	for _, want := range []func(gid) bool{
		func(g gid) bool { return g.addr == local },
		func(g gid) bool { return !g.addr.IsLinkLocalUnicast() && g.addr.Is4() == local.Is4() },
		func(g gid) bool { return !g.addr.IsLinkLocalUnicast() },
		func(gid) bool { return true },
	} {
		if i := slices.IndexFunc(fitting, want); i >= 0 {
			return fitting[i], nil
		}
	}
	return gid{}, fmt.Errorf("no entry of the port's GID table will do: wanted is %s%s%s; there are %s", k, ofIndex(index), toReach(peer), gidTexts(gids))
}

func ofIndex(index int) string {
	if index == 0 {
		return ""
	}
	return fmt.Sprintf(" at index %d", index-1)
}

func toReach(peer *netip.Addr) string {
	if peer == nil {
		return ""
	}
	return " to reach " + peer.String()
}

// gidTexts are the entries, for errors.
func gidTexts(gids []gid) string {
	if len(gids) == 0 {
		return "none"
	}
	var s []string
	for _, g := range gids {
		s = append(s, fmt.Sprintf("%d: %s %s %s", g.index, g.kind, g.addr, g.dev))
	}
	return strings.Join(s, "; ")
}
