package iwarp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Tests with several processes run this test binary again, with an errand in the environment.
const errandVariable = "BAREWIRE_IWARP_ERRAND"

// errand is what another process is to do.
type errand struct {
	Role      string
	Addr      string        // where to listen or to dial
	Ops       int           // how many operations, where the role has a number of them
	Bytes     int           // of its region
	Seed      uint64        // of what it writes
	NoCRC     bool          // no checksums, if that may be
	DSCP      rdma.DSCP     // 0: none
	OpTimeout time.Duration // 0: the default
	TLS       string        // the directory of its certificate; empty: no TLS
	V6        bool          // for those who look at addresses
}

// roles are what processes can do. Each says "ready" when it has come to where it should be; the other words are
// its own.
var roles = map[string]func(*errand) error{}

func TestMain(m *testing.M) {
	text := os.Getenv(errandVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var e errand
	err := json.Unmarshal([]byte(text), &e)
	if err == nil && roles[e.Role] == nil {
		err = fmt.Errorf("no such role")
	}
	if err == nil {
		err = roles[e.Role](&e)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", e.Role, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// config is the configuration that an errand asks for.
func (e *errand) config() (rdma.Config, error) {
	c := rdma.Config{
		Device: "tcp", Transport: rdma.IWARP{NoCRC: e.NoCRC, DSCP: e.DSCP}, OpTimeout: e.OpTimeout,
		HandshakeTimeout: 20 * time.Second, Logger: slog.New(slog.DiscardHandler),
	}
	if e.TLS == "" {
		return c, nil
	}
	tls, err := loadTLS(e.TLS)
	if err == nil {
		c.TLS = tls
	}
	return c, err
}

// say tells the process that started this one.
func say(words ...any) { fmt.Println(words...) }

// forget stays as it is until it is killed.
func forget() { time.Sleep(time.Hour) }

// process is one that a test started.
type process struct {
	t    testing.TB
	role string
	cmd  *exec.Cmd
	out  *bufio.Reader
	errs bytes.Buffer
}

// begin starts a process in this one's network, or in another; it is killed with the test.
func begin(t testing.TB, in *namespace, e errand) *process {
	t.Helper()
	text := must(json.Marshal(e))(t)
	cmd := exec.Command(must(os.Executable())(t), "-test.run=^$")
	cmd.Env = append(os.Environ(), errandVariable+"="+string(text))
	p := &process{t: t, role: e.Role, cmd: cmd}
	cmd.Stderr = &p.errs
	out := must(cmd.StdoutPipe())(t)
	if in == nil {
		ok(t, cmd.Start())
	} else {
		ok(t, in.do(cmd.Start)) // what is forked inherits the thread's network
	}
	p.out = bufio.NewReader(out)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		if t.Failed() && p.errs.Len() > 0 {
			t.Logf("the process %q said: %s", e.Role, p.errs.String())
		}
	})
	return p
}

// hear is the rest of a line that begins with a word. Something else is a failure.
func (p *process) hear(word string) string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	rest, found := strings.CutPrefix(strings.TrimSpace(line), word)
	if !found {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.t.Fatalf("%s: said %q (%v), want %q; %s", p.role, line, err, word, p.errs.String())
	}
	return strings.TrimSpace(rest)
}

// ends wants the process to end by itself, and well, in time.
func (p *process) ends(within time.Duration) {
	p.t.Helper()
	late := time.AfterFunc(within, func() { _ = p.cmd.Process.Signal(syscall.SIGQUIT) })
	_, _ = io.Copy(io.Discard, p.out)
	err := p.cmd.Wait()
	if !late.Stop() && err != nil {
		p.t.Errorf("%s: had not ended after %v: %s", p.role, within, p.errs.String())
	} else if err != nil {
		p.t.Errorf("%s: %v: %s", p.role, err, p.errs.String())
	}
}

// fails wants the process to end by itself, and to say why not well.
func (p *process) fails(within time.Duration) string {
	p.t.Helper()
	late := time.AfterFunc(within, func() { _ = p.cmd.Process.Signal(syscall.SIGQUIT) })
	_, _ = io.Copy(io.Discard, p.out)
	if err := p.cmd.Wait(); err == nil {
		p.t.Errorf("%s: ended well", p.role)
	}
	if !late.Stop() {
		p.t.Errorf("%s: had not ended after %v: %s", p.role, within, p.errs.String())
	}
	return strings.TrimSpace(p.errs.String())
}

// unread is how many octets of its connections have come that the process has not read: of each, in hexadecimal, what
// stands behind the colon of /proc/net/tcp's fifth column (proc_pid_net(5)).
func (p *process) unread() (n uint64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", p.cmd.Process.Pid))
	if err != nil {
		return 0 // it has ended
	}
	const established = "01"
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 5 || f[3] != established {
			continue
		}
		_, queued, _ := strings.Cut(f[4], ":")
		octets, _ := strconv.ParseUint(queued, 16, 64)
		n += octets
	}
	return n
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	ok(p.t, p.cmd.Process.Signal(s))
}

// stopped waits until the process is stopped.
func (p *process) stopped() {
	p.t.Helper()
	for range 5000 {
		b := must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid)))(p.t)
		if _, rest, _ := strings.Cut(string(b), ") "); strings.HasPrefix(rest, "T") {
			return
		}
		time.Sleep(time.Millisecond)
	}
	p.t.Fatal("the process does not stop")
}

// remains is what a test may leave behind.
type remains struct{ goroutines, files int }

func count() remains {
	if r, w, err := os.Pipe(); err == nil { // what the runtime opens once, to wait for descriptors, is no leak
		_, _ = r.Close(), w.Close()
	}
	files, _ := os.ReadDir("/proc/self/fd")
	return remains{runtime.NumGoroutine(), len(files)}
}

// noMore is an error if there is more than before, and goes on being.
func (before remains) noMore() error {
	var now remains
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		now = count()
		if now.goroutines <= before.goroutines && now.files <= before.files {
			return nil
		}
	}
	buf := make([]byte, 1<<16)
	return fmt.Errorf("left behind: %+v, before %+v\n%s", now, before, buf[:runtime.Stack(buf, true)])
}

// forMinutes is the time that a whole errand may take.
func forMinutes(n int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Duration(n)*time.Minute)
}
