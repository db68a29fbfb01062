package iwarp_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// namespace is a network of its own: devices, addresses, routes, ports. It has no name, so that two tests cannot
// meet in one, and is gone with the last process in it and the test's descriptor.
type namespace struct{ file *os.File }

// newNamespace makes one, with nothing in it but the loopback device.
func newNamespace(t testing.TB) *namespace {
	t.Helper()
	n := &namespace{}
	ok(t, onThread(func() (err error) {
		if err = unix.Unshare(unix.CLONE_NEWNET); err == nil {
			n.file, err = os.Open("/proc/thread-self/ns/net")
		}
		return err
	}))
	t.Cleanup(func() { _ = n.file.Close() })
	n.ip(t, "link set lo up")
	return n
}

// onThread calls f on a thread that is not used for anything else after it.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		done <- f()
	}()
	return <-done
}

// do calls f with the calling thread in the namespace: sockets that it makes and processes that it starts are there.
func (n *namespace) do(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("setns: %w", err)
		}
		return f()
	})
}

// path names the namespace to another process.
func (n *namespace) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), n.file.Fd()) }

// run runs a program there.
func (n *namespace) run(name string, args ...string) error {
	var said strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := n.do(cmd.Run); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, said.String())
	}
	return nil
}

// ip runs ip(8) there.
func (n *namespace) ip(t testing.TB, args string) {
	t.Helper()
	ok(t, n.run("ip", strings.Fields(args)...))
}

// network is two hosts, as far as they can tell: two namespaces and what is between them.
type network struct {
	hosts [2]*namespace
	wire  *wire // nil: a veth pair
}

const device = "bw0" // of each host
const packets = 1500 // bytes of the longest one

// addresses of the hosts.
var addresses = [2]struct{ v4, v6 string }{{"10.99.0.1", "fd99::1"}, {"10.99.0.2", "fd99::2"}}

// at is where a host listens, or is dialled.
func at(host int, v6 bool, port string) string {
	if v6 {
		return net.JoinHostPort(addresses[host].v6, port)
	}
	return net.JoinHostPort(addresses[host].v4, port)
}

// needNetworks skips the test where namespaces cannot be made; under CI it fails.
func needNetworks(t testing.TB) {
	t.Helper()
	_, err := exec.LookPath("ip")
	if err == nil {
		err = onThread(func() error { return unix.Unshare(unix.CLONE_NEWNET) })
		if errors.Is(err, unix.EPERM) {
			err = fmt.Errorf("making a network namespace takes root (CAP_SYS_ADMIN): %w", err)
		}
	}
	if err != nil {
		cannot(t, "two hosts need ip(8) of iproute2, and root: %v", err)
	}
}

// cannot skips the test for a lack of this machine; under CI, where nothing may lack, it fails.
func cannot(t testing.TB, format string, args ...any) {
	t.Helper()
	if scratch.CI() {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// newNetwork makes two hosts with a veth pair between them.
func newNetwork(t testing.TB) *network {
	t.Helper()
	needNetworks(t)
	n := &network{hosts: [2]*namespace{newNamespace(t), newNamespace(t)}}
	n.hosts[0].ip(t, "link add "+device+" type veth peer name "+device+" netns "+n.hosts[1].path())
	n.configure(t)
	return n
}

// newWired makes two hosts with a wire between them that the test sees all packets on.
func newWired(t testing.TB) *network {
	t.Helper()
	needNetworks(t)
	n := &network{hosts: [2]*namespace{newNamespace(t), newNamespace(t)}}
	n.wire = newWire(t, n.hosts)
	n.configure(t)
	return n
}

func (n *network) configure(t testing.TB) {
	t.Helper()
	for i, h := range n.hosts {
		h.ip(t, fmt.Sprintf("link set %s mtu %d up", device, packets))
		h.ip(t, fmt.Sprintf("addr add %s/24 dev %s", addresses[i].v4, device))
		h.ip(t, fmt.Sprintf("-6 addr add %s/64 dev %s nodad", addresses[i].v6, device))
	}
}

// TestNetworks has the hosts be what other tests take them for: apart, and joined by what they were given.
func TestNetworks(t *testing.T) {
	needNetworks(t)
	for name, make := range map[string]func(testing.TB) *network{"veth": newNetwork, "wire": newWired} {
		t.Run(name, func(t *testing.T) {
			n := make(t)
			for _, v6 := range []bool{false, true} {
				var l net.Listener
				ok(t, n.hosts[1].do(func() (err error) { l, err = net.Listen("tcp", at(1, v6, "0")); return err }))
				_, port, _ := net.SplitHostPort(l.Addr().String())
				var c net.Conn
				ok(t, n.hosts[0].do(func() (err error) { c, err = net.Dial("tcp", at(1, v6, port)); return err }))
				if mss := segmentOf(t, c.(*net.TCPConn)); mss != packets-headersOf(v6) {
					t.Errorf("a segment has %d bytes", mss)
				}
				if _, err := net.Listen("tcp", at(1, v6, port)); err == nil {
					t.Error("the address of a namespace is here too")
				}
				_, _ = c.Close(), l.Close()
			}
		})
	}
}

// headersOf are the bytes of a packet that are not payload: IP, TCP, and the time stamps of RFC 7323.
func headersOf(v6 bool) int {
	if v6 {
		return 40 + 20 + 12
	}
	return 20 + 20 + 12
}

func segmentOf(t testing.TB, c *net.TCPConn) (n int) {
	t.Helper()
	raw := must(c.SyscallConn())(t)
	ok(t, raw.Control(func(fd uintptr) { n, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_MAXSEG) }))
	return n
}
