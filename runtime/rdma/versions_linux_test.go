package rdma_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// quote is a schema in two versions of the same size, and one that has more.
const quote = `#@residency(cpu)
#@register(remote_read, remote_write)
type Quote struct {
  bid: f64
  ask: %s
}
`

// server offers regions of its version of Quote; it ends with its standard input.
const server = `package main

import (
	"context"
	"io"
	"os"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/shm"
	"github.com/fidelityframework/barewire-gen/scratch/server/quotes"
)

func main() {
	ctx := context.Background()
	dev, err := rdma.Open(ctx, rdma.Config{Provider: shm.Provider()})
	check(err)
	dom, err := dev.Domain()
	check(err)
	r, err := barewire.New(quotes.QuoteInCPU(), 4)
	check(err)
	mr, err := rdma.Register(dom, r, quotes.QuoteRemoteRead())
	check(err)
	ln, err := dom.Listen(ctx, os.Args[1])
	check(err)
	os.Stdout.WriteString("ready\n")
	conn, err := ln.Accept(ctx)
	check(err)
	check(rdma.Offer(ctx, conn, "quotes", mr))
	io.Copy(io.Discard, os.Stdin)
}

func check(err error) {
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
`

// client imports them as its version, and says what became of it.
const client = `package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/shm"
	"github.com/fidelityframework/barewire-gen/scratch/%s/quotes"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	fmt.Println(try(ctx))
}

func try(ctx context.Context) error {
	dev, err := rdma.Open(ctx, rdma.Config{Provider: shm.Provider()})
	if err != nil {
		return err
	}
	dom, err := dev.Domain()
	if err != nil {
		return err
	}
	conn, err := dom.Dial(ctx, os.Args[1])
	if err != nil {
		return err
	}
	rem, err := rdma.Import(ctx, conn, "quotes", quotes.QuoteRemoteRead())
	if err != nil {
		return err
	}
	fmt.Println(rem.Len(), "quotes")
	return conn.Close()
}
`

// TestSchemaVersions has two processes whose programs were generated from different versions
// of a schema: of the same size, and of another. The import says so; with the same version it works.
func TestSchemaVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	m := scratch.New(t, "", "")
	m.Write("server/main.go", []byte(server))
	writeQuotes(t, m, "server", "f64")
	versions := map[string]string{"same": "f64", "newer": "u64", "larger": "data[24]"}
	for name, ask := range versions {
		m.Write(name+"/main.go", fmt.Appendf(nil, client, name))
		writeQuotes(t, m, name, ask)
	}
	serve := m.Build("./server")
	for name := range versions {
		t.Run(name, func(t *testing.T) {
			out := meetProcesses(t, serve, m.Build("./"+name))
			want := []string{"4 quotes", "<nil>"}
			if name != "same" {
				want = []string{`rdma: import "quotes" as quotes.Quote`, "the peer refuses", "another schema", "schema hash"}
			}
			for _, s := range want {
				if !strings.Contains(out, s) {
					t.Errorf("it says %q, and not %q", out, s)
				}
			}
		})
	}
}

// writeQuotes generates the package quotes below a directory of the module.
func writeQuotes(t *testing.T, m *scratch.Module, dir, ask string) {
	t.Helper()
	code, err := scratch.Generate(map[string]string{"quotes.bare": fmt.Sprintf(quote, ask)}, gen.Options{Package: "quotes"})
	ok(t, err)
	for name, b := range code {
		m.Write(dir+"/quotes/"+name, b)
	}
}

// meetProcesses runs a server, and a client beside it, and gives what the client says.
func meetProcesses(t *testing.T, server, client string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	address := fmt.Sprintf("@barewire-versions-%d-%d", os.Getpid(), sockets.Add(1))
	s := exec.CommandContext(ctx, server, address)
	in := must(s.StdinPipe())(t)
	lines := must(s.StdoutPipe())(t)
	ok(t, s.Start())
	ready := make([]byte, 100)
	if n, _ := lines.Read(ready); string(ready[:n]) != "ready\n" {
		t.Fatalf("the server says %q", ready[:n])
	}
	out, err := exec.CommandContext(ctx, client, address).Output()
	ok(t, err)
	ok(t, in.Close())
	ok(t, s.Wait())
	return string(out)
}
