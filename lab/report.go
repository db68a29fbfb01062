package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/internal/testsum/summary"
	"github.com/fidelityframework/barewire-gen/lab/internal/machine"
)

// report makes of what a guest says the events of go test -json, by test2json, and hands them to the summary.
type report struct {
	l    *lab
	b    boot
	g    *machine.Guest
	next int // job

	stopped func() bool // all of it is to end: that the guest does is no failure of its

	first  time.Time      // when its first job began
	began  time.Time      // and the present one
	inside bool           // a job has begun and not ended
	in     io.WriteCloser // of test2json, nil outside of tests
	ended  chan struct{}  // it has said all
	ran    bool           // a test has
	failed bool           // one has failed, and says why
	tail   []string       // the last lines that were said
	prefix string         // of lines that are printed as they come
}

// follow boots a guest and reports what it did. Its error is that the guest died.
func (r *report) follow(ctx context.Context) error {
	err := r.g.Boot(ctx, r)
	r.close()
	if err == nil && r.next < len(r.b.jobs) {
		err = fmt.Errorf("%w: it did %d of %d things", machine.ErrDied, r.next, len(r.b.jobs))
	}
	if err == nil {
		return nil
	}
	if !r.stopped() {
		r.died(err)
	}
	return err
}

// died fails what was running, or would have been next, and what there was to do after it.
func (r *report) died(err error) {
	r.close()
	failed := r.next
	if r.inside || failed == len(r.b.jobs) {
		failed--
	}
	r.fail(failed, fmt.Sprintf("%v\nThe end of its console:\n%s", err, consoleTail(r.g.Console())))
	for i := failed + 1; i < len(r.b.jobs); i++ {
		r.fail(i, "not run: the guest died before")
	}
}

// name is how a job is called in what is printed.
func (r *report) name(i int) string {
	j := r.b.jobs[i]
	name := path.Clean(j.pkg)
	if j.pkg == "" {
		name = path.Base(j.command[0])
	}
	guest := ""
	if r.b.preset.Guests > 1 {
		guest = fmt.Sprintf(" guest %d,", r.g.Number)
	}
	return fmt.Sprintf("%s (%s,%s %s)", name, r.b.preset.Name, guest, r.b.kernel)
}

// tailLines is how many of a test binary's last lines are told if it ends badly without saying which test failed.
const tailLines = 40

// Begin is a machine.Handler's.
func (r *report) Begin() {
	r.close()
	i := r.next
	r.next++
	r.began, r.ran, r.inside = time.Now(), false, true
	r.failed, r.tail = false, nil
	if r.first.IsZero() {
		r.first = r.began
	}
	if i >= len(r.b.jobs) || r.b.jobs[i].pkg == "" {
		return
	}
	cmd := exec.Command("go", "tool", "test2json", "-p", r.name(i))
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		r.fail(i, "go tool test2json does not start")
		return
	}
	r.in, r.ended = in, make(chan struct{})
	go func() {
		defer close(r.ended)
		r.l.sum.Read(out)
		_ = cmd.Wait()
	}()
}

// Output is a machine.Handler's.
func (r *report) Output(line []byte) {
	if r.in != nil {
		_, _ = r.in.Write(line)
	}
	line = bytes.TrimPrefix(line, []byte{0x16}) // which tells test2json that a line is the framework's
	r.ran = r.ran || bytes.HasPrefix(line, []byte("=== RUN "))
	r.failed = r.failed || bytes.Contains(line, []byte("--- FAIL: "))
	if r.tail = append(r.tail, string(line)); len(r.tail) > tailLines {
		r.tail = r.tail[1:]
	}
	switch {
	case r.l.verbose:
		fmt.Print(r.prefix, string(line))
	case r.inside && r.next <= len(r.b.jobs) && r.b.jobs[r.next-1].isFigure(line):
		fmt.Print(r.prefix, string(bytes.TrimLeft(line, " ")))
	}
}

// End is a machine.Handler's.
func (r *report) End(status int) {
	r.close()
	r.inside = false
	i := r.next - 1
	if i < 0 || i >= len(r.b.jobs) {
		return
	}
	took := time.Since(r.began).Seconds()
	switch {
	case r.b.jobs[i].pkg == "":
		r.command(i, status)
	case status != 0:
		fmt.Printf("FAIL\t%s\t%.1fs\n", r.name(i), took)
		why := fmt.Sprintf("it ended with %d", status)
		if !r.failed {
			why += ", and no test had failed; the last that it said:\n\t" + strings.TrimSpace(strings.Join(r.tail, "\t"))
		}
		r.fail(i, why)
	case !r.ran:
		r.fail(i, "it ran no test")
	default:
		fmt.Printf("ok  \t%s\t%.1fs\n", r.name(i), took)
	}
}

// command counts a program that is no test as one.
func (r *report) command(i, status int) {
	e := summary.Event{Action: "pass", Package: r.name(i), Test: strings.Join(r.b.jobs[i].command, " ")}
	if status != 0 {
		e.Action = "fail"
		fmt.Printf("lab: it ended with %d\n", status)
	}
	r.l.sum.Add(e)
}

// close ends test2json.
func (r *report) close() {
	if r.in != nil {
		_ = r.in.Close()
		<-r.ended
		r.in = nil
	}
}

func (r *report) fail(i int, why string) {
	e := summary.Event{Action: "output", Package: r.name(i), Output: why + "\n"}
	r.l.sum.Add(e)
	e.Action = "fail"
	r.l.sum.Add(e)
}

// consoleTail is the end of what a kernel has said.
func consoleTail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\r", "")), "\n")
	return "\t" + strings.Join(lines[max(0, len(lines)-40):], "\n\t")
}
