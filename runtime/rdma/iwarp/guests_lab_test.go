//go:build lab && linux

package iwarp_test

import (
	"net"
	"os"
	"testing"
	"time"
)

// TestGuests has processes on two hosts, each with a kernel of its own, exchange operations of all kinds over the wire
// between them, with checks of all contents. The first host listens.
func TestGuests(t *testing.T) {
	const first, told = "10.99.0.1:7480", "10.99.0.1:7481"
	e := errand{Role: "exchange here", Ops: 3000, Seed: 1, Addr: first}
	if os.Getenv("BAREWIRE_LAB_GUEST") == "1" {
		p := begin(t, nil, e)
		p.hear("at ")
		ln := must(net.Listen("tcp", told))(t)
		defer ln.Close()
		_ = must(ln.Accept())(t).Close()
		p.ends(4 * time.Minute)
		return
	}
	e.Role, e.Seed = "exchange", 2
	var err error
	for range 600 { // the other one may have more to do before
		var c net.Conn
		if c, err = net.Dial("tcp", told); err == nil {
			_ = c.Close()
			begin(t, nil, e).ends(4 * time.Minute)
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatal(err)
}
