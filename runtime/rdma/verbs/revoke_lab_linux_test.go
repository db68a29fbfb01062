//go:build lab && (amd64 || arm64)

package verbs

import (
	"testing"
)

// eachSettling runs a test on the device as it is, and as one whose windows' end is all: that is what network cards do.
func eachSettling(t *testing.T, f func(t *testing.T, a, b *domain)) {
	t.Run("as it is", func(t *testing.T) {
		b := domainOf(t)
		if b.adapter.settles {
			t.Errorf("%s is not known for rdma_rxe", b.adapter.port.name())
		}
		f(t, domainOf(t), b)
	})
	t.Run("by the window alone", func(t *testing.T) {
		b := domainOf(t)
		b.adapter.settles = true
		f(t, domainOf(t), b)
	})
}

// TestRevoke uses what was revoked, on a device.
func TestRevoke(t *testing.T) {
	eachSettling(t, func(t *testing.T, a, b *domain) {
		if why := b.adapter.noWindows(); why != "" {
			t.Fatal(why)
		}
		x := newBetween(t, a, b, mapped(t, 4096), mapped(t, 4096))
		checkRevoke(t, x, func() (*queue, *queue) { return linkedBoth(t, a, b) })
	})
}

// TestRevokeUnderTraffic revokes in the midst of writes of many packets.
func TestRevokeUnderTraffic(t *testing.T) {
	a, b := domainOf(t), domainOf(t)
	x := newBetween(t, a, b, mapped(t, 64<<10), mapped(t, 64<<10))
	for i := range x.own {
		x.own[i] = 0xa5
	}
	checkRevokeUnderTraffic(t, x, 15, func() (*queue, *queue) { return linkedBoth(t, a, b) })
}
