package gpu

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// Here is what was opened to have regions and operations: devices, queues, modules, and the kernels of those.

// inGPU stands for a generated function's place.
var inGPU barewire.Place[sample.Tick, barewire.GPU]

func GoodOpened(ctx context.Context) (err error) {
	dev, err := gpu.Open(ctx, gpu.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	q, err := dev.Queue(0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	mod, err := dev.Module(ctx, []byte("source"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mod.Close(ctx)) }()
	k, err := mod.Kernel("scale")
	if err != nil {
		return err
	}
	r, err := gpu.New(dev, inGPU, 8)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	fmt.Println(dev.Info(), dev, q, k)
	op, err := gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.All(r)))
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// worker has a device, and what it needs of it.
type worker struct {
	dev *gpu.Device
	q   *gpu.Queue
	mod *gpu.Module
	k   *gpu.Kernel
}

// GoodWorker gives them to who closes them later.
func GoodWorker(ctx context.Context, source []byte) (w *worker, err error) {
	dev, err := gpu.Open(ctx, gpu.Config{})
	if err != nil {
		return nil, err
	}
	q, err := dev.Queue(64)
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	mod, err := dev.Module(ctx, source)
	if err != nil {
		return nil, errors.Join(err, q.Close(), dev.Close())
	}
	k, err := mod.Kernel("scale")
	if err != nil {
		return nil, errors.Join(err, mod.Close(ctx), q.Close(), dev.Close())
	}
	return &worker{dev, q, mod, k}, nil
}

func (w *worker) Close(ctx context.Context) error {
	return errors.Join(w.mod.Close(ctx), w.q.Close(), w.dev.Close())
}

// GoodWorkerUsed does not name what it has.
func GoodWorkerUsed(ctx context.Context, source []byte, h *host) error {
	w, err := GoodWorker(ctx, source)
	if err != nil {
		return err
	}
	_, err = gpu.Launch(w.q, w.k, gpu.Line(8, 8), gpu.Mem(gpu.All(h)))
	return errors.Join(err, w.q.Flush(ctx), w.Close(ctx))
}

// GoodBuilt fills the worker one by one, and closes what there is where one fails.
func GoodBuilt(ctx context.Context, source []byte) (_ *worker, err error) {
	w := &worker{}
	defer func() {
		if err != nil {
			w.closeAll(ctx)
		}
	}()
	if w.dev, err = gpu.Open(ctx, gpu.Config{}); err != nil {
		return nil, err
	}
	if w.q, err = w.dev.Queue(0); err != nil {
		return nil, err
	}
	if w.mod, err = w.dev.Module(ctx, source); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *worker) closeAll(ctx context.Context) {
	if w.mod != nil {
		w.mod.Close(ctx)
	}
	if w.q != nil {
		w.q.Close()
	}
	if w.dev != nil {
		w.dev.Close()
	}
}

// GoodOpenedTest has the test close them.
func GoodOpenedTest(t *testing.T) (*gpu.Device, *gpu.Queue) {
	dev, err := gpu.Open(t.Context(), gpu.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	q, err := dev.Queue(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return dev, q
}

// GoodOpenedTestUses has both from a helper that closes them.
func GoodOpenedTestUses(t *testing.T) {
	dev, q := GoodOpenedTest(t)
	r, err := gpu.New(dev, inGPU, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := q.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// cleaned gives a function that closes what it opened.
func cleaned(ctx context.Context) (*gpu.Queue, func() error, error) {
	dev, err := gpu.Open(ctx, gpu.Config{})
	if err != nil {
		return nil, nil, err
	}
	q, err := dev.Queue(0)
	if err != nil {
		return nil, nil, errors.Join(err, dev.Close())
	}
	return q, func() error { return errors.Join(q.Close(), dev.Close()) }, nil
}

func GoodCleaned(ctx context.Context, k *gpu.Kernel) error {
	q, done, err := cleaned(ctx)
	if err != nil {
		return err
	}
	_, err = gpu.Launch(q, k, gpu.Line(8, 8))
	return errors.Join(err, q.Flush(ctx), done())
}

// GoodMain ends the program where it cannot go on.
func GoodMain(ctx context.Context) {
	dev, err := gpu.Open(ctx, gpu.Config{})
	if err != nil {
		log.Fatal(err)
	}
	q, err := dev.Queue(0)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(q.Close(), dev.Close()); err != nil {
		log.Fatal(err)
	}
}

// GoodQueues opens several, and closes all.
func GoodQueues(ctx context.Context, dev *gpu.Device, n int) (err error) {
	var qs []*gpu.Queue
	defer func() {
		for _, q := range qs {
			err = errors.Join(err, q.Close())
		}
	}()
	for range n {
		q, err := dev.Queue(0)
		if err != nil {
			return err
		}
		qs = append(qs, q)
	}
	return dev.Sync(ctx)
}

// GoodEach has a queue for each turn.
func GoodEach(ctx context.Context, dev *gpu.Device, k *gpu.Kernel, hosts []*host) error {
	for _, h := range hosts {
		if err := func() (err error) {
			q, err := dev.Queue(0)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, q.Flush(ctx), q.Close()) }()
			_, err = gpu.Launch(q, k, gpu.Line(8, 8), gpu.Mem(gpu.All(h)))
			return err
		}(); err != nil {
			return err
		}
	}
	return nil
}

// GoodOnce keeps the device for all that ask later.
var GoodOnce = sync.OnceValues(func() (*gpu.Device, error) { return gpu.Open(context.Background(), gpu.Config{}) })

var kept struct {
	sync.Mutex
	dev *gpu.Device
}

// GoodKept keeps it too, behind a lock.
func GoodKept(ctx context.Context) (*gpu.Device, error) {
	kept.Lock()
	defer kept.Unlock()
	if kept.dev == nil {
		dev, err := gpu.Open(ctx, gpu.Config{})
		if err != nil {
			return nil, err
		}
		kept.dev = dev
	}
	return kept.dev, nil
}

// GoodOrNone goes on without a device where there is none.
func GoodOrNone(ctx context.Context) error {
	dev, err := gpu.Open(ctx, gpu.Config{})
	if errors.Is(err, gpu.ErrNoDevice) {
		return nil
	}
	if err != nil {
		return err
	}
	return dev.Close()
}

// GoodAny takes the first that opens.
func GoodAny(ctx context.Context, names []string) (*gpu.Device, error) {
	var errs []error
	for _, name := range names {
		dev, err := gpu.Open(ctx, gpu.Config{Device: name})
		if err == nil {
			return dev, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// GoodGoroutine lets a worker close its queue.
func GoodGoroutine(ctx context.Context, dev *gpu.Device, k *gpu.Kernel) error {
	q, err := dev.Queue(0)
	if err != nil {
		return err
	}
	go func() {
		defer q.Close()
		if op, err := gpu.Launch(q, k, gpu.Line(8, 8)); err == nil {
			_ = op.Wait(ctx)
		}
	}()
	return nil
}

// GoodRetried closes the module again where the context had ended.
func GoodRetried(ctx context.Context, mod *gpu.Module) error {
	if err := mod.Close(ctx); err != nil {
		return mod.Close(context.Background())
	}
	return nil
}

// GoodClosedRefused is a test of what a closed queue says.
func GoodClosedRefused(t *testing.T, q *gpu.Queue, k *gpu.Kernel) {
	refused(t, q.Close(), barewire.ErrInFlight)
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := gpu.Launch(q, k, gpu.Line(8, 8))
	refused(t, err, gpu.ErrClosed)
	refused(t, q.Close(), gpu.ErrClosed)
}

func refused(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// GoodModuleLate closes the module where a context would end too early otherwise, and then asks a kernel for its name.
func GoodModuleLate(ctx context.Context, dev *gpu.Device, q *gpu.Queue, source []byte) (string, error) {
	mod, err := dev.Module(ctx, source)
	if err != nil {
		return "", err
	}
	k, err := mod.Kernel("scale")
	if err != nil {
		return "", errors.Join(err, mod.Close(ctx))
	}
	_, err = gpu.Launch(q, k, gpu.Line(8, 8)) // the Close waits for it
	err = errors.Join(err, mod.Close(ctx))
	return k.String(), err
}

// GoodKernels takes the kernels of a program along with it.
func GoodKernels(ctx context.Context, dev *gpu.Device, source []byte, names []string) (*gpu.Module, map[string]*gpu.Kernel, error) {
	mod, err := dev.Module(ctx, source)
	if err != nil {
		return nil, nil, err
	}
	ks := map[string]*gpu.Kernel{}
	for _, name := range names {
		k, err := mod.Kernel(name)
		if err != nil {
			return nil, nil, errors.Join(err, mod.Close(ctx))
		}
		ks[name] = k
	}
	return mod, ks, nil
}

// GoodReloaded has a new kernel where it has a new module.
func GoodReloaded(ctx context.Context, dev *gpu.Device, q *gpu.Queue, sources [][]byte) error {
	for _, source := range sources {
		mod, err := dev.Module(ctx, source)
		if err != nil {
			return err
		}
		k, err := mod.Kernel("scale")
		if err == nil {
			_, err = gpu.Launch(q, k, gpu.Line(8, 8))
		}
		if err := errors.Join(err, q.Flush(ctx), mod.Close(ctx)); err != nil {
			return err
		}
	}
	return nil
}
