package verbs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// PeerEnv says to a program that it is the other process of a row. Programs that
// use this package call [Peer] first of all.
const PeerEnv = "BAREWIRE_BENCH_PEER"

// pinEnv says to a peer on which processor it is to stay.
const pinEnv = "BAREWIRE_BENCH_PIN"

// apart makes a row one whose two processes stay on a processor each.
func apart(open func(*Loop) error) func(*Loop) error {
	return func(l *Loop) error {
		cpu, undo, err := pin()
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
		_, _ = io.Copy(io.Discard, os.Stdin)
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
	addr, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("peer %s did not start: %w", name, err)
	}
	return strings.TrimSpace(addr), nil
}
