//go:build lab && linux

package guest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// number is which of the guests of one preset this is, from 1.
var number = os.Getenv("BAREWIRE_LAB_GUEST")

// TestPair: each guest has a device on its end of the wire, and stock programs talk over it. The first guest serves.
func TestPair(t *testing.T) {
	want(t, "eth0", ibDir, "rxe0/ports/1/gid_attrs/ndevs/0")
	gid := "0000:0000:0000:0000:0000:ffff:0a63:000" + number
	if have := gids(t, "rxe0"); have[gid] == "" {
		t.Errorf("rxe0 has no address %s: %v", gid, have)
	}
	for i, c := range []struct{ server, client string }{
		{"ibv_rc_pingpong -d rxe0 -g 1 -n 50", "ibv_rc_pingpong -d rxe0 -g 1 -n 50 10.99.0.1"},
		{"rping -s -a 10.99.0.1 -C 5", "rping -c -a 10.99.0.1 -C 5 -V"},
		{"ib_write_lat -d rxe0 -x 1 -n 50 -F", "ib_write_lat -d rxe0 -x 1 -n 50 -F 10.99.0.1"},
	} {
		if number == "1" {
			serve(t, i, c.server)
		} else {
			use(t, i, c.client)
		}
	}
}

// serve runs a server, and tells the other guest before.
func serve(t testing.TB, i int, line string) {
	t.Helper()
	ln := must(net.Listen("tcp", told(i)))(t)
	defer ln.Close()
	_ = must(ln.Accept())(t).Close()
	t.Log(tool(t, line))
}

// use runs a client, until the server is there.
func use(t testing.TB, i int, line string) {
	t.Helper()
	soon(t, "the first guest serves", func() error {
		c, err := net.Dial("tcp", told(i))
		if err == nil {
			_ = c.Close()
		}
		return err
	})
	soon(t, line, func() error {
		words := strings.Fields(line)
		out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		t.Logf("%s", out)
		return err
	})
}

// told is where the first guest says that it is about to serve.
func told(i int) string { return fmt.Sprintf("10.99.0.1:%d", 7400+i) }
