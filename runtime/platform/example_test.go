package platform_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fidelityframework/barewire-gen/internal/machines"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// A configuration is composed, and held against a machine: here one that was captured, with a node of CXL memory.
func Example() {
	fsys, err := machines.FS("cxl-stageB-sysram")
	if err != nil {
		log.Fatal(err)
	}
	m, err := platform.DetectFS(context.Background(), fsys) // platform.Detect(ctx) reads this machine
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range m.NUMA.Nodes {
		fmt.Printf("node %d: %s of %s, processors %q\n", n.ID, platform.FormatBytes(n.Memory.Total.Value), n.Kind, n.CPUs)
	}
	r, err := platform.Configure(m,
		platform.DataCenter(),
		platform.WithCXL(platform.CXLNode),
		platform.Optional(platform.WithResizableBAR()),
		platform.WithMemoryLimit(1<<30),
	)
	if err != nil {
		log.Fatal(err) // names everything that the machine lacks
	}
	fmt.Println(r)
	// Output:
	// node 0: 962.6 MiB of plain, processors "0-1"
	// node 1: 939.9 MiB of plain, processors "2-3"
	// node 4: 512 MiB of cxl, processors ""
	// nodes 0-1,4, near [0 1], far [4] from 512 MiB, huge pages try, waiting event, memory 1 GiB, locked unlimited; pinned host memory, which is the zero-copy buffer of every GPU instead of a GPU with a resizable BAR
}
