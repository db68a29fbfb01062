package rdma_test

import (
	"context"
	"encoding/hex"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

// heard keeps what a dialer writes and reads.
type heard struct {
	net.Conn
	mu        sync.Mutex
	out, back []byte
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	h.out = append(h.out, b...)
	h.mu.Unlock()
	return h.Conn.Write(b)
}

func (h *heard) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	h.mu.Lock()
	h.back = append(h.back, b[:n]...)
	h.mu.Unlock()
	return n, err
}

func (h *heard) said() (out, back []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]byte(nil), h.out...), append([]byte(nil), h.back...)
}

// TestWireDoc holds the octets that docs/iwarp.md shows to what is sent: the two frames of the start-up, and the first
// one after them.
func TestWireDoc(t *testing.T) {
	page := string(must(os.ReadFile("../../docs/iwarp.md"))(t))
	for name, c := range map[string]struct {
		cfg     rdma.Config
		startup int
	}{
		"barewire": {rdma.Config{}, 20 + 4 + 24 + 8},
		"plain":    {rdma.Config{Plain: true}, 20 + 4},
	} {
		t.Run(name, func(t *testing.T) {
			var h *heard
			p := iwarp.New(iwarp.Options{Dial: func(ctx context.Context, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
				h = &heard{Conn: c}
				return h, err
			}})
			c.cfg.Provider, c.cfg.Logger = p, quiet
			meet(t, c.cfg, "")
			const first = 20
			soon(t, func() bool { out, _ := h.said(); return len(out) >= c.startup+first })
			out, back := h.said()
			for what, b := range map[string][]byte{
				"request": out[:c.startup], "reply": back[:c.startup], "first frame": out[c.startup : c.startup+first],
			} {
				for _, line := range strings.Split(strings.TrimSpace(hex.Dump(b)), "\n") {
					octets := strings.Join(strings.Fields(line[10:58]), " ")
					if !strings.Contains(page, octets) {
						t.Errorf("docs/iwarp.md lacks, of the %s:\n%s", what, octets)
					}
				}
			}
		})
	}
}
