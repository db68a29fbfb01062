package rdma_test

import (
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

func TestCloseIsQuick(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	start := time.Now()
	ok(t, p.a.conn.Close())
	t.Log("a", time.Since(start))
	ok(t, p.b.conn.Close())
	t.Log("b", time.Since(start))
	ok(t, p.a.dev.Close())
	ok(t, p.b.dev.Close())
	if d := time.Since(start); d > time.Second {
		t.Errorf("closing took %v", d)
	}
}
