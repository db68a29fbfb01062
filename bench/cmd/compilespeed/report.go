package main

import (
	"fmt"
	"time"
)

func report(all map[int][]result) {
	for _, n := range sizes {
		rs := all[n]
		fmt.Printf("%d types, %.2f MB of schema\n", n, mb(rs[0].in))
		fmt.Printf("  %-24s %10s %10s %10s %12s %12s %10s\n", "what", "CPU", "wall", "Go", "CPU per MB", "CPU per type", "peak RSS")
		for _, r := range rs {
			perMB, size := "", ""
			if r.out > 0 {
				size = fmt.Sprintf("%.2f MB", mb(r.out))
				perMB = fmt.Sprintf("%.3f s", perMegabyte(r))
			}
			fmt.Printf("  %-24s %10s %10s %10s %12s %9.1f us %7.0f MB\n", r.what, short(r.cpu), short(r.wall), size, perMB,
				float64(r.cpu.Microseconds())/float64(n), mb(r.peak))
		}
		fmt.Println()
	}
	small, large := all[sizes[0]], all[sizes[1]]
	fmt.Printf("Growth from %d to %d types (10 is linear)\n", sizes[0], sizes[1])
	for i := range large {
		if i < len(small) {
			fmt.Printf("  %-24s CPU x %.1f, peak RSS x %.1f\n", large[i].what,
				float64(large[i].cpu)/float64(small[i].cpu), float64(large[i].peak)/float64(max(small[i].peak, 1)))
		}
	}
	fmt.Println("\nWanted")
	for _, n := range sizes {
		check, gen, peer := all[n][0], all[n][1], all[n][2]
		wanted(fmt.Sprintf("%d types: check, of go-bare's CPU", n), float64(check.cpu)/float64(peer.cpu), 0.25)
		wanted(fmt.Sprintf("%d types: generate per MB of Go, of go-bare's", n), perMegabyte(gen)/perMegabyte(peer), 1)
	}
	// Starting a process takes some of the smaller run, so linear is below 10.
	wanted("check: growth", float64(large[0].cpu)/float64(small[0].cpu), 12)
	wanted("generate: growth", float64(large[1].cpu)/float64(small[1].cpu), 12)
	wanted("generate: growth of memory", float64(large[1].peak)/float64(max(small[1].peak, 1)), 12)
}

func wanted(what string, got, most float64) {
	verdict := "NOT MET"
	if got <= most {
		verdict = "met"
	}
	fmt.Printf("  %-8s %-50s %.2f, wanted at most %.2f\n", verdict, what, got, most)
}

// perMegabyte is the CPU time for a megabyte of Go, in seconds.
func perMegabyte(r result) float64 { return r.cpu.Seconds() / mb(r.out) }

func mb(n int64) float64 { return float64(n) / 1e6 }

func short(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }
