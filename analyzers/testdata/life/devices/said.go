package devices

import (
	"context"
	"errors"
	"runtime"
	"syscall"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/later"
)

// These say in directives on which nodes they are.

//barewire:effect fresh=0 on ok, node=0 of node
func GoodSaysNode(n, node int) (*later.NodeMemory, error) { return later.OnNode(n, node) }

// GoodSaysNodeChecked knows that it is the same.
//
//barewire:effect fresh=0 on ok, node=0 of node
func GoodSaysNodeChecked(n, node int) (*later.NodeMemory, error) {
	if node != 1 {
		return nil, errors.New("only node 1 has any")
	}
	return later.OnNode(n, 1)
}

//barewire:effect fresh=0 on ok, node=0 of node
func GoodSaysNodeCheckedElsewhere(n, node int) (*later.NodeMemory, error) {
	if err := only1(node); err != nil {
		return nil, err
	}
	return later.OnNode(n, 1)
}

func only1(node int) error {
	if node != 1 {
		return errors.New("only node 1 has any")
	}
	return nil
}

//barewire:effect pins=node
func GoodSaysPins(node int) (func(), error) { return later.Pin(node) }

// GoodSaysPinsBySyscall does it in a way that does not show.
//
//barewire:effect pins=node
func GoodSaysPinsBySyscall(node int) error {
	runtime.LockOSThread()
	mask := uint64(1) << node
	if _, _, errno := syscall.Syscall(203, 0, 8, uintptr(mask)); errno != 0 {
		return errno
	}
	return nil
}

// binder pins goroutines.
type binder interface{ Bind(node int) error }

//barewire:effect pins=node
func GoodSaysPinsBy(b binder, node int) error { return b.Bind(node) }

//barewire:effect pins=node
func GoodSaysPinsByFunc(pin func(int) error, node int) error { return pin(node) }

//barewire:effect runs=f of node
func GoodSaysRuns(node int, f func() error) error { return later.Run(node, f) }

// GoodSaysRunsElsewhere gives it to a worker.
//
//barewire:effect runs=f of node
func GoodSaysRunsElsewhere(jobs []chan func(), node int, f func()) { jobs[node] <- f }

// bound has a goroutine that is pinned, which calls it.
type bound struct{ node int }

//barewire:effect runs=f of b
func (b *bound) GoodSaysRunsHere(f func()) { f() }

//barewire:effect migrates=p
func GoodSaysMigrates(p *later.Pages, node int) error { return p.Bind(node) }

//barewire:effect uses=p, migrates=p
func GoodSaysMigratesSome(p *later.Pages, move func(*later.Pages)) { move(p) }

//barewire:effect fresh=0 on ok, node=0 of node
func BadSaysNode(n, node int) (*later.NodeMemory, error) { // want "BW5113 memory of result 0 is on node 1, and the directive of BadSaysNode says on that of .node."
	return later.OnNode(n, 1)
}

//barewire:effect fresh=0 on ok, node=0 of n
func BadSaysOtherNode(n, node int) (*later.NodeMemory, error) { // want "BW5113 memory of result 0 is on node .node., and the directive of BadSaysOtherNode says on that of .n."
	return later.OnNode(n, node)
}

//barewire:effect pins=node
func BadSaysPins(node int) (func(), error) { // want "BW5113 nothing pins the goroutine, and the directive of BadSaysPins says so"
	runtime.LockOSThread()
	return runtime.UnlockOSThread, nil
}

//barewire:effect pins=node
func BadSaysPinsOther(node int) (func(), error) { // want "BW5113 the goroutine is on node 0, and the directive of BadSaysPinsOther says on that of .node."
	return later.Pin(0)
}

//barewire:effect runs=f of node
func BadSaysRuns(node int, f func() error) error { // want "BW5113 .f. is called where nothing pins the goroutine, and the directive of BadSaysRuns says on the node of .node."
	return f()
}

//barewire:effect runs=f of node
func BadSaysRunsNothing(node int, f func() error) error { // want "BW5113 .f. is not called, and the directive of BadSaysRunsNothing says so"
	_, err := later.Pin(node)
	return err
}

//barewire:effect runs=f of node
func BadSaysRunsOther(node int, f func() error) error { // want "BW5113 the goroutine that calls .f. is on node 1, and the directive of BadSaysRunsOther says on that of .node."
	unpin, err := later.Pin(1)
	if err != nil {
		return err
	}
	defer unpin()
	return f()
}

//barewire:effect migrates=p
func BadSaysMigrates(p *later.Pages) error { // want "BW5113 nothing is done with .p., and the directive of BadSaysMigrates says that it may be moved to another node"
	return context.Canceled
}

//barewire:effect uses=p
func BadSaysStays(p *later.Pages) error { // want "BW5113 the memory of .p. is moved to another node, and the directive of BadSaysStays does not say so"
	return GoodSaysMigrates(p, 1)
}

// GoodSaysStays brings it back.
//
//barewire:effect uses=p
func GoodSaysStays(p *later.Pages) error {
	return errors.Join(GoodSaysMigrates(p, 1), GoodSaysMigrates(p, 0))
}
