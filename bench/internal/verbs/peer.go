package verbs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/cputime"
)

// PeerEnv says to a program that it is the other process of a row. Programs that
// use this package call [Peer] first of all.
const PeerEnv = "BAREWIRE_BENCH_PEER"

// pinEnv says to a peer on which processor it is to stay.
const pinEnv = "BAREWIRE_BENCH_PIN"

// placing says where the two processes of a row run.
type placing int

const (
	anywhere placing = iota // as the system likes
	separate                // on a processor each
	together                // both on the same
)

// apart makes a row one whose two processes stay on a processor each.
func apart(open func(*Loop) error) func(*Loop) error { return placed(separate, open) }

// placed makes a row one whose two processes stay where it says.
func placed(where placing, open func(*Loop) error) func(*Loop) error {
	if where == anywhere {
		return open
	}
	return func(l *Loop) error {
		cpu, undo, err := pin(where)
		if err != nil {
			return err
		}
		l.onClose(undo)
		if cpu >= 0 {
			l.env = append(l.env, pinEnv+"="+strconv.Itoa(cpu))
		}
		return open(l)
	}
}

// peers are the other sides, by name: each serves until the process is ended. It says
// where it can be reached when it is ready.
var peers = map[string]func(ready func(string)) error{}

// Usage is what a process, or several together, took.
type Usage struct {
	CPU     time.Duration // of all threads, in user and system mode
	Mallocs uint64        // allocations of the Go heap
}

// ownUsage is what this process took so far.
func ownUsage() Usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Usage{CPU: cputime.Self(), Mallocs: m.Mallocs}
}

// Usage is what the processes of the row took so far, this one and its peers.
func (l *Loop) Usage() (Usage, error) {
	sum := ownUsage()
	for _, p := range l.peers {
		u, err := p.usage()
		if err != nil {
			return Usage{}, err
		}
		sum.CPU += u.CPU
		sum.Mallocs += u.Mallocs
	}
	return sum, nil
}

// process is a peer, by its standard input and output: to each line it answers with its usage.
type process struct {
	in  io.Writer
	out *bufio.Reader
}

func (p *process) usage() (u Usage, err error) {
	if _, err := fmt.Fprintln(p.in, "usage"); err != nil {
		return u, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return u, err
	}
	_, err = fmt.Sscan(line, (*int64)(&u.CPU), &u.Mallocs)
	return u, err
}

// answer tells on standard output what this process took, for each line of standard
// input, until that ends.
func answer() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		u := ownUsage()
		fmt.Println(int64(u.CPU), u.Mallocs)
	}
}

// Peer serves, and ends the process, where that was started as a peer; else it
// returns at once. A peer ends with its standard input, so with whoever started it.
func Peer() {
	name := os.Getenv(PeerEnv)
	if name == "" {
		return
	}
	serve := peers[name]
	if cpu, err := strconv.Atoi(os.Getenv(pinEnv)); err == nil {
		if err := pinTo(cpu); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	if serve == nil {
		fmt.Fprintln(os.Stderr, "bench: no peer is called", name)
		os.Exit(2)
	}
	go func() {
		answer()
		os.Exit(0)
	}()
	if err := serve(func(addr string) { fmt.Println(addr) }); err != nil {
		fmt.Fprintf(os.Stderr, "bench: peer %s: %v\n", name, err)
		os.Exit(1)
	}
	select {} // until standard input ends
}

// start starts this program again as a peer, with files as its descriptors from 3
// on, and returns what it said when it was ready.
func (l *Loop) start(name string, files ...*os.File) (addr string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), PeerEnv+"="+name)
	cmd.Env = append(cmd.Env, l.env...)
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, files
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	l.onClose(func() error {
		err := in.Close()
		return errors.Join(err, cmd.Wait())
	})
	p := &process{in: in, out: bufio.NewReader(out)}
	addr, err = p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("peer %s did not start: %w", name, err)
	}
	l.peers = append(l.peers, p)
	return strings.TrimSpace(addr), nil
}
