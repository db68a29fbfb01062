package iwarp

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// option is a socket option of a connection.
func option(t testing.TB, c *net.TCPConn, level, name int) int {
	t.Helper()
	rc, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	v := -1
	if err := onSocket(rc, func(fd int) (err error) { v, err = unix.GetsockoptInt(fd, level, name); return }); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSocketOptions connects, over both families, and looks at the options of both ends.
func TestSocketOptions(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		cfg := &rdma.Config{DSCP: 26, MTU: 1500, Transport: rdma.IWARP{MTU: 1500}}
		d := openDomain(t, Options{}, cfg)
		l, err := d.Listen(limit(t), addr)
		if err != nil {
			t.Fatal(err)
		}
		got := acceptOn(t, l.(*listener), silence)
		a, b := (<-dialOn(t, d, l.Addr(), "")).must(t), (<-got).must(t)
		six := addr[0] == '['
		for who, q := range map[string]*queue{"dialer": a, "acceptor": b} {
			for name, o := range map[string]struct{ level, name, want int }{
				"TCP_NODELAY":      {unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
				"TCP_USER_TIMEOUT": {unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 30000},
				"SO_KEEPALIVE":     {unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
				"TCP_KEEPIDLE":     {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 15},
				"TCP_KEEPINTVL":    {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5},
				"TCP_KEEPCNT":      {unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
			} {
				if v := option(t, q.s.tcp, o.level, o.name); v != o.want {
					t.Errorf("%s at %s: %s is %d, want %d", who, addr, name, v, o.want)
				}
			}
			class := option(t, q.s.tcp, unix.IPPROTO_IP, unix.IP_TOS)
			most := 1500 - 20 - 20
			if six {
				class, most = option(t, q.s.tcp, unix.IPPROTO_IPV6, unix.IPV6_TCLASS), most-20
			}
			if class != 26<<2 {
				t.Errorf("%s at %s: the class is %#x, want %#x", who, addr, class, 26<<2)
			}
			if mss := option(t, q.s.tcp, unix.IPPROTO_TCP, unix.TCP_MAXSEG); mss > most || q.s.mulpdu > mulpduOf(mss) || q.s.mulpdu < mulpduOf(most-12) {
				t.Errorf("%s at %s: segments of %d bytes, a ULPDU of %d; at most %d are wanted", who, addr, mss, q.s.mulpdu, most)
			}
		}
	}
}

// TestSegmentsOfLoopback wants segments to be as large as the path has them, where no MTU was asked for.
func TestSegmentsOfLoopback(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{MTU: 4096})
	l, got := listenOn(t, d, silence)
	q := (<-dialOn(t, d, l.Addr(), "")).must(t)
	(<-got).must(t)
	if mss := option(t, q.s.tcp, unix.IPPROTO_TCP, unix.TCP_MAXSEG); q.s.mulpdu != mulpduOf(mss) || mss < 4096 {
		t.Errorf("segments of %d bytes, a ULPDU of %d", mss, q.s.mulpdu)
	}
	if c := option(t, q.s.tcp, unix.IPPROTO_IP, unix.IP_TOS); c != 0 {
		t.Errorf("the class is %#x, and none was asked for", c)
	}
}

// TestExplicitMTU tells what was asked for from what was filled in.
func TestExplicitMTU(t *testing.T) {
	for _, c := range []struct {
		cfg  rdma.Config
		want int
	}{
		{rdma.Config{MTU: 4096}, 0},
		{rdma.Config{MTU: 1500, Transport: rdma.IWARP{}}, 0},
		{rdma.Config{MTU: 9000, Transport: rdma.IWARP{}}, 9000},
		{rdma.Config{MTU: 1500, Transport: rdma.IWARP{MTU: 1500}}, 1500},
		{rdma.Config{MTU: 9000, Transport: rdma.IWARP{MTU: 9000}}, 9000},
	} {
		if n := explicitMTU(&c.cfg); n != c.want {
			t.Errorf("of %+v: %d, want %d", c.cfg, n, c.want)
		}
	}
}
