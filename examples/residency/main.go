// The residency example allocates the types of one schema as their residencies say, on whatever machine it runs, and shows what it got:
// the same program, and the same types, on a laptop and on a server with memory behind CXL.
//
//	go run ./examples/residency
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/numa"
)

// readings is how many each region has: 1 MiB.
const readings = 1 << 14

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	pool, err := cxl.Open(ctx)
	if err != nil {
		fmt.Fprintf(out, "no pool: %v\n\n", err)
	}
	err = errors.Join(
		show(out, "barewire.New, cpu", func() (*ReadingCPU[barewire.Unregistered], error) {
			return barewire.New(ReadingInCPU(), readings)
		}),
		show(out, "numa.Local, numa", func() (*ReadingNUMA[barewire.Unregistered], error) {
			return numa.Local(ReadingInNUMA(), readings)
		}),
		show(out, "numa.New(1), numa", func() (*ReadingNUMA[barewire.Unregistered], error) {
			return numa.New(1, ReadingInNUMA(), readings)
		}),
		show(out, "numa.New(1), numa or unified", func() (*ReadingUnified[barewire.Unregistered], error) {
			return numa.New(1, ReadingInNUMAOrUnified(), readings)
		}),
		show(out, "cxl.New, cxl", func() (*ReadingCXL[barewire.Unregistered], error) {
			return cxl.New(pool, ReadingInCXL(), readings)
		}),
		show(out, "cxl.New, cxl or unified", func() (*ReadingUnified[barewire.Unregistered], error) {
			return cxl.New(pool, ReadingInCXLOrUnified(), readings)
		}),
		pool.Close(),
	)
	return errors.Join(err, beacon(ctx, out), onGPU(ctx, out))
}

// show allocates, uses what it got as any other region, and says where it is. What an exact place does not give is an answer, too.
func show[R barewire.HostAddressable](out io.Writer, asked string, allocate func() (*barewire.Region[Reading, R, barewire.Unregistered], error)) error {
	r, err := allocate()
	if errors.Is(err, barewire.ErrPlace) {
		fmt.Fprintf(out, "%-29s nothing: %v\n", asked, err)
		return nil
	}
	if err != nil {
		return err
	}
	err = barewire.With(r, func(w ReadingWindow[barewire.Unregistered]) error {
		for i := range w.Len() {
			ReadingAt(w, i).SetNumber(uint64(i))
		}
		if last := ReadingAt(w, w.Len()-1).Number(); last != readings-1 {
			return fmt.Errorf("the last reading is %d", last)
		}
		return nil
	})
	back, berr := barewire.Backing(r)
	at, perr := barewire.Placement(r)
	why := ""
	if back.Why != "" {
		why = ", for: " + back.Why
	}
	where := "at a node that the system does not tell"
	if at.Node >= 0 {
		where = fmt.Sprintf("at node %d", at.Node)
	} else if len(at.Nodes) > 0 {
		where = fmt.Sprintf("at nodes %d", at.Nodes)
	}
	fmt.Fprintf(out, "%-29s %d KiB of %s memory %s%s\n", asked, back.Bytes>>10, back.Kind, where, why)
	return errors.Join(err, berr, perr, r.Close())
}

// beacon shares an element as hosts do that have no coherence, over a file in the place of a device.
func beacon(ctx context.Context, out io.Writer) error {
	const asked = "cxl.Share, cxl_shared"
	dir, err := os.MkdirTemp("", "barewire")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "shared")
	if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 1<<16)); err != nil {
		return err
	}
	writer, err := cxl.Share(ctx, BeaconInCXLShared(), 8, cxl.Writer(0, 1), cxl.File(name))
	if errors.Is(err, barewire.ErrPlace) {
		fmt.Fprintf(out, "%-29s nothing: %v\n", asked, err)
		return nil
	}
	if err != nil {
		return err
	}
	defer writer.Close()
	reader, err := cxl.Share(ctx, BeaconInCXLShared(), 8, cxl.Reader, cxl.File(name))
	if err != nil {
		return err
	}
	defer reader.Close()
	sequence, err := cxl.Publish(writer, 0, &Beacon{Beat: 1, Load: 0.5})
	if err != nil {
		return err
	}
	var got Beacon
	if _, err := cxl.SnapshotSince(reader, 0, &got, sequence); err != nil {
		return err
	}
	fmt.Fprintf(out, "%-29s beat %d, load %g, read past the cache with sequence %d\n", asked, got.Beat, got.Load, sequence)
	return nil
}
