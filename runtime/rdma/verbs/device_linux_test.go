//go:build amd64 || arm64

package verbs

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	_ "github.com/fidelityframework/barewire-gen/runtime/rdma/soft" // what there is always
)

// TestAbsent opens a library that is not there: that is a typed answer, and a device that says why.
func TestAbsent(t *testing.T) {
	p := New(Options{Library: "libno-such-verbs.so.1"})
	infos, err := p.Devices(context.Background())
	if err != nil || len(infos) != 1 || infos[0].State == rdma.StateActive || infos[0].Transport == "" {
		t.Errorf("Devices gave %+v, %v; want one that cannot be used", infos, err)
	}
	if _, err := p.Open(context.Background(), "", nil); !errors.Is(err, ErrNoVerbs) {
		t.Errorf("Open gave %v, want %v", err, ErrNoVerbs)
	}
	if _, err := rdma.Open(context.Background(), rdma.Config{Provider: p}); !errors.Is(err, rdma.ErrNoDevice) {
		t.Errorf("rdma.Open gave %v, want %v", err, rdma.ErrNoDevice)
	}
}

// table is a port's GID table as a kernel shows it.
func table(entries ...[4]string) fstest.MapFS {
	fs := fstest.MapFS{}
	for _, e := range entries {
		fs["dev0/ports/1/gids/"+e[0]] = &fstest.MapFile{Data: []byte(e[1] + "\n")}
		fs["dev0/ports/1/gid_attrs/types/"+e[0]] = &fstest.MapFile{Data: []byte(e[2] + "\n")}
		fs["dev0/ports/1/gid_attrs/ndevs/"+e[0]] = &fstest.MapFile{Data: []byte(e[3] + "\n")}
	}
	return fs
}

// TestChooseGID chooses from tables as network cards have them.
func TestChooseGID(t *testing.T) {
	gids := readGIDs(table(
		[4]string{"0", "fe80:0000:0000:0000:0202:c9ff:fe00:0001", "IB/RoCE v1", "eth0"},
		[4]string{"1", "fe80:0000:0000:0000:0202:c9ff:fe00:0001", "RoCE v2", "eth0"},
		[4]string{"2", "0000:0000:0000:0000:0000:ffff:0a00:0001", "IB/RoCE v1", "eth0"},
		[4]string{"3", "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2", "eth0"},
		[4]string{"4", "2001:0db8:0000:0000:0000:0000:0000:0001", "RoCE v2", "eth0"},
		[4]string{"5", "0000:0000:0000:0000:0000:0000:0000:0000", "", ""},
		[4]string{"10", "0000:0000:0000:0000:0000:ffff:0a01:0001", "RoCE v2", "eth0.5"},
	), "dev0", 1)
	if len(gids) != 6 || gids[5].index != 10 {
		t.Fatalf("read %+v", gids)
	}
	v4, v6 := netip.MustParseAddr("10.9.9.9"), netip.MustParseAddr("2001:db8::9")
	for _, c := range []struct {
		name  string
		kind  kind
		index int
		local string
		peer  *netip.Addr
		want  int // -1: none
	}{
		{"the address of the exchange", kindRoCEv2, 0, "10.1.0.1", nil, 10},
		{"the other version has it too", kindRoCEv1, 0, "10.0.0.1", nil, 2},
		{"IPv6", kindRoCEv2, 0, "2001:db8::1", nil, 4},
		{"link-local with a zone", kindRoCEv2, 0, "fe80::202:c9ff:fe00:1%eth0", nil, 1},
		{"another network, IPv4", kindRoCEv2, 0, "192.0.2.1", nil, 3},
		{"another network, IPv6", kindRoCEv2, 0, "2001:db8:1::1", nil, 4},
		{"the peer is IPv6", kindRoCEv2, 0, "10.0.0.1", &v6, 4},
		{"the peer is IPv4", kindRoCEv2, 0, "2001:db8::1", &v4, 3},
		{"by index", kindRoCEv2, 1 + 4, "10.0.0.1", nil, 4},
		{"by an index of another kind", kindRoCEv2, 1 + 2, "10.0.0.1", nil, -1},
		{"InfiniBand's table calls itself v1", kindInfiniBand, 0, "192.0.2.1", nil, 2},
	} {
		got, err := choose(gids, c.kind, c.index, netip.MustParseAddr(c.local), c.peer)
		if c.want < 0 {
			if err == nil {
				t.Errorf("%s: chose %d, want an error", c.name, got.index)
			}
			continue
		}
		if err != nil || got.index != c.want {
			t.Errorf("%s: chose %d, %v; want %d", c.name, got.index, err, c.want)
		}
	}
}

// TestFallsBack opens the best device that is there, where there is no library: another provider's, and why.
func TestFallsBack(t *testing.T) {
	rdma.Use(New(Options{Library: "libno-such-verbs.so.1"}))
	defer rdma.Use(standard)
	dev, err := rdma.Open(t.Context(), rdma.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if dev.Info().Provider != "soft" || !strings.Contains(dev.Why(), "verbs/none: it is not there") || !strings.Contains(dev.Why(), "libno-such-verbs.so.1") {
		t.Errorf("opened %+v: %s", dev.Info(), dev.Why())
	}
}
