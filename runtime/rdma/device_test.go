package rdma

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// listed is a provider that has devices.
type listed struct {
	name    string
	devices []DeviceInfo
}

func (p listed) Name() string                                  { return p.name }
func (p listed) Devices(context.Context) ([]DeviceInfo, error) { return p.devices, nil }
func (p listed) Open(context.Context, string, *Config) (Adapter, error) {
	return nil, errors.New("it is for looking at only")
}

// TestDeviceOrder has devices of all kinds: network cards first, then the software that reaches furthest.
func TestDeviceOrder(t *testing.T) {
	device := func(name, transport string) DeviceInfo {
		return DeviceInfo{Name: name, Transport: transport, State: StateActive}
	}
	down := device("ib1", "InfiniBand")
	down.State = "port down"
	all, err := look(t.Context(), []Provider{
		listed{"iwarp", []DeviceInfo{device("tcp", "iWARP")}},
		listed{"shm", []DeviceInfo{device("host", "SoftRDMA")}},
		listed{"soft", []DeviceInfo{device("soft0", "SoftRDMA")}},
		listed{"verbs", []DeviceInfo{device("cxgb", "iWARP"), down, device("mlx0", "RoCEv2"), device("ib0", "InfiniBand")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, f := range all {
		order = append(order, f.info.Name)
	}
	if got := strings.Join(order, " "); got != "ib0 mlx0 cxgb tcp host soft0 ib1" {
		t.Errorf("the order is %s", got)
	}
	for _, x := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "iwarp/tcp (iWARP) is the best that is there, since it reaches other hosts; Config.Device can name instead: " +
			"shm/host, which reaches this host only; soft/soft0, which reaches this process only"},
		{Config{Device: "iwarp"}, "iwarp/tcp (iWARP) is the best that is there"},
	} {
		if got := reasonFor(all[3].info, nil, x.cfg.behind(all[4:])); got != x.want {
			t.Errorf("the reason is %q, want %q", got, x.want)
		}
	}
}

// TestPassedOver: a device that is not the one asked for is told of with why it could not be used anyhow: the stand-in of a provider
// that has none says why.
func TestPassedOver(t *testing.T) {
	none := DeviceInfo{Provider: "verbs", Name: "none", Transport: "RoCEv2", State: "not there: no kernel support"}
	other := DeviceInfo{Provider: "iwarp", Name: "tcp", Transport: "iWARP", State: StateActive}
	for _, c := range []struct {
		cfg  Config
		info DeviceInfo
		want string
	}{
		{Config{}, other, ""},
		{Config{}, none, "it is not there: no kernel support"},
		{Config{Device: "verbs"}, none, "it is not there: no kernel support"},
		{Config{Device: "verbs/rxe0"}, none, `it is not "verbs/rxe0", and it is not there: no kernel support`},
		{Config{Device: "rxe0"}, other, `it is not "rxe0"`},
		{Config{Transport: InfiniBand{}}, none, "it is RoCEv2, and InfiniBand is wanted, and it is not there: no kernel support"},
	} {
		ok, why := c.cfg.wants(c.info)
		if why != c.want || ok != (why == "") {
			t.Errorf("%q %v, %s: %q, want %q", c.cfg.Device, c.cfg.Transport, c.info.Name, why, c.want)
		}
	}
}
