//go:build lab && linux

package guest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const ibDir = "class/infiniband"

// TestRDMA: two devices of rdma_rxe, up, with the addresses of the network devices below them, and good enough for
// stock programs on both sides.
func TestRDMA(t *testing.T) {
	for dev, c := range map[string]struct {
		netdev string
		gids   []string
	}{
		"rxe0":  {"bw0", []string{"0000:0000:0000:0000:0000:ffff:0a63:0001", "fd99:0000:0000:0000:0000:0000:0000:0001"}},
		"rxelo": {"lo", []string{"0000:0000:0000:0000:0000:ffff:7f00:0001", "0000:0000:0000:0000:0000:0000:0000:0001"}},
	} {
		want(t, "4: ACTIVE", ibDir, dev, "ports/1/state")
		want(t, "Ethernet", ibDir, dev, "ports/1/link_layer")
		want(t, c.netdev, ibDir, dev, "ports/1/gid_attrs/ndevs/0")
		have := gids(t, dev)
		for _, gid := range c.gids {
			at, found := have[gid]
			if !found {
				t.Errorf("%s has no address %s: %v", dev, gid, have)
				continue
			}
			want(t, "RoCE v2", ibDir, dev, "ports/1/gid_attrs/types", at)
		}
	}
	for _, dev := range []string{"/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm"} {
		ok(t, there(dev)())
	}
}

// gids are the addresses of a device, and their indexes.
func gids(t testing.TB, dev string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, file := range must(filepath.Glob(filepath.Join("/sys", ibDir, dev, "ports/1/gids/[0-9]")))(t) {
		if gid, err := os.ReadFile(file); err == nil {
			found[strings.TrimSpace(string(gid))] = filepath.Base(file)
		}
	}
	return found
}

// TestRDMAStock has stock programs talk to each other by the drivers that ours are to talk to.
func TestRDMAStock(t *testing.T) {
	for _, line := range []string{"ibv_rc_pingpong -d rxe0 -g 1 -n 100", "ibv_rc_pingpong -d rxelo -g 1 -n 100 -e"} {
		t.Log(between(t, line, line+" 127.0.0.1"))
	}
	t.Log(between(t, "rping -s -a 10.99.0.1 -C 10", "rping -c -a 10.99.0.1 -C 10 -V"))
	t.Log(between(t, "ib_write_lat -d rxe0 -x 1 -n 200 -F", "ib_write_lat -d rxe0 -x 1 -n 200 -F 127.0.0.1"))
}
