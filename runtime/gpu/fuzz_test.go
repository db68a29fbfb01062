package gpu_test

import (
	"errors"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
)

// FuzzDevice opens devices by any name, from providers that list any: a device or an error, which is ErrNoDevice, and says of each what
// is against it.
func FuzzDevice(f *testing.F) {
	f.Add("plain/0", "0", "ready", "0000:01:00.0", uint64(8<<30), -1)
	f.Add("plain", "0", "broken", "", uint64(0), 3)
	f.Add("", "", "ready", "zz", ^uint64(0), 1<<30)
	f.Add("plain/", "0/1", "", "0000:01:00.0\x00", uint64(1), 0)
	f.Add("plain/a/b", "a/b", "ready", "\xff", uint64(1), 0)
	f.Fuzz(func(t *testing.T, device, name, state, pci string, memory uint64, node int) {
		info := gpu.DeviceInfo{Name: name, State: state, PCI: pci, Memory: memory, Facts: gpu.Facts{HostMapped: true, HostNode: &node}}
		p := plain{[]gpu.DeviceInfo{info, {Name: "other", State: "not this one"}}}
		dev, err := gpu.Open(t.Context(), gpu.Config{Provider: p, Device: device})
		wanted := device == "" || device == "plain" || device == "plain/"+name
		if (err == nil) != (wanted && state == gpu.StateReady) {
			t.Fatalf("device %q of %q, which is %q: %v", device, name, state, err)
		}
		if err != nil {
			if dev != nil || !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), "plain/other") {
				t.Fatalf("%v, %v", dev, err)
			}
			return
		}
		if n, err := dev.Node(); err == nil && n < 0 {
			t.Errorf("it is at node %d", n)
		}
		if r, err := gpu.NewHostAt(dev, gpu.Near, sample.BodyInCPU(), 1); err == nil {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		} else if !errors.Is(err, barewire.ErrPlace) && !errors.Is(err, gpu.ErrNotHere) {
			t.Errorf("memory at node %d: %v", node, err)
		}
		r, err := gpu.New(dev, sample.BodyInGPU(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gpu.Map(t.Context(), r); !errors.Is(err, gpu.ErrNoWindow) {
			t.Error(err)
		}
		if err := errors.Join(r.Close(), dev.Close()); err != nil {
			t.Error(err)
		}
	})
}

// FuzzCopy copies any parts of regions: what is not there, overlaps, or differs in length is refused, and all else is copied as it would be
// on the host.
func FuzzCopy(f *testing.F) {
	f.Add(0, 4, 4, 4)
	f.Add(-1, 4, 4, 4)
	f.Add(1<<62, 1<<62, -1<<63, -1)
	f.Add(0, 4, 2, 4)
	f.Add(15, 1, 0, 1)
	const count = 16
	f.Fuzz(func(t *testing.T, i, n, j, m int) {
		dev := open(t, gpu.DeviceInfo{})
		q, err := dev.Queue(4)
		if err != nil {
			t.Fatal(err)
		}
		r, err := gpu.New(dev, sample.BodyInGPU(), count)
		if err != nil {
			t.Fatal(err)
		}
		h, err := barewire.New(sample.BodyInCPU(), count)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float32, count)
		must := func(op gpu.Op, err error) {
			if err == nil {
				err = op.Wait(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error {
			for k, v := range sample.BodyAll(w) {
				want[k] = float32(k + 1)
				v.SetValue(want[k])
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		must(gpu.CopyToDevice(q, gpu.All(r), gpu.All(h)))
		op, err := gpu.Copy(q, gpu.Some(r, i, n), gpu.Some(r, j, m))
		there := func(i, n int) bool { return i >= 0 && n >= 0 && i <= count && n <= count-i }
		good := there(i, n) && there(j, m) && n == m && n > 0 && (i+n <= j || j+n <= i)
		if (err == nil) != good {
			t.Fatalf("%d elements from %d on, of %d from %d on: %v", n, i, m, j, err)
		}
		var refused *gpu.OpError
		if err != nil && !errors.As(err, &refused) {
			t.Errorf("%v is no OpError", err)
		}
		if good {
			must(op, nil)
			copy(want[i:i+n], append([]float32(nil), want[j:j+n]...))
		}
		must(gpu.CopyToHost(q, gpu.All(h), gpu.All(r)))
		if err := barewire.With(h, func(w barewire.Window[sample.Body, barewire.Unregistered]) error {
			for k, v := range sample.BodyAll(w) {
				if v.Value() != want[k] {
					t.Errorf("element %d is %v, want %v", k, v.Value(), want[k])
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.Close(), h.Close(), q.Close()); err != nil {
			t.Error(err)
		}
	})
}
