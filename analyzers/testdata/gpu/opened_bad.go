package gpu

import (
	"context"
	"errors"
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

func BadDeviceLeft(ctx context.Context) error {
	dev, err := gpu.Open(ctx, gpu.Config{}) // want "BW5104 .dev. .*gpu.Device. is not released"
	if err != nil {
		return err
	}
	fmt.Println(dev.Info())
	return nil
}

func BadDeviceLeftOnError(ctx context.Context) error {
	dev, err := gpu.Open(ctx, gpu.Config{}) // want "BW5104 .dev. .*gpu.Device. is not released"
	if err != nil {
		return err
	}
	q, err := dev.Queue(0)
	if err != nil {
		return err
	}
	return errors.Join(q.Close(), dev.Close())
}

func BadQueueLeft(ctx context.Context, dev *gpu.Device, k *gpu.Kernel) error {
	q, err := dev.Queue(0) // want "BW5104 .q. .*gpu.Queue. is not released"
	if err != nil {
		return err
	}
	op, err := gpu.Launch(q, k, gpu.Line(8, 8))
	if err != nil {
		return err
	}
	return errors.Join(op.Wait(ctx), q.Close())
}

func BadQueueFlushed(ctx context.Context, dev *gpu.Device, k *gpu.Kernel) error {
	q, err := dev.Queue(0) // want "BW5104 .q. .*gpu.Queue. is not released"
	if err != nil {
		return err
	}
	_, err = gpu.Launch(q, k, gpu.Line(8, 8))
	return errors.Join(err, q.Flush(ctx))
}

func BadModuleLeft(ctx context.Context, dev *gpu.Device, q *gpu.Queue, source []byte) error {
	mod, err := dev.Module(ctx, source) // want "BW5104 .mod. .*gpu.Module. is not released"
	if err != nil {
		return err
	}
	k, err := mod.Kernel("scale")
	if err != nil {
		return err
	}
	_, err = gpu.Launch(q, k, gpu.Line(8, 8))
	return errors.Join(err, q.Flush(ctx), mod.Close(ctx))
}

// post is a helper that uses what it is given.
func post(ctx context.Context, q *gpu.Queue, k *gpu.Kernel) error {
	op, err := gpu.Launch(q, k, gpu.Line(8, 8))
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func BadQueueOfHelper(ctx context.Context, dev *gpu.Device, k *gpu.Kernel) error {
	q, err := dev.Queue(0) // want "BW5104 .q. .*gpu.Queue. is not released"
	if err != nil {
		return err
	}
	return post(ctx, q, k)
}

func BadQueueClosed(dev *gpu.Device, k *gpu.Kernel, ctx context.Context) error {
	q, err := dev.Queue(0)
	if err != nil {
		return err
	}
	if err := q.Close(); err != nil {
		return err
	}
	return post(ctx, q, k) // want "BW5101 .q. .*gpu.Queue. is used after Close"
}

func BadQueueTwice(dev *gpu.Device) (err error) {
	q, err := dev.Queue(0)
	if err != nil {
		return err
	}
	defer q.Close() // want "BW5102 .q. .*gpu.Queue. is ended by Close, and was ended by Close before"
	return q.Close()
}

func BadDeviceClosed(ctx context.Context, dev *gpu.Device) (*device, error) {
	if err := dev.Close(); err != nil {
		return nil, err
	}
	return gpu.New(dev, inGPU, 8) // want "BW5101 .dev. .*gpu.Device. is used after Close"
}

func BadKernelOfClosed(ctx context.Context, q *gpu.Queue, mod *gpu.Module) error {
	k, err := mod.Kernel("scale")
	if err != nil {
		return err
	}
	if err := mod.Close(ctx); err != nil {
		return err
	}
	_, err = gpu.Launch(q, k, gpu.Line(8, 8)) // want "BW5111 .mod. .*gpu.Module. has ended by Close, and a view of it .* is used"
	return errors.Join(err, q.Flush(ctx))
}

// BadBuilt closes what there is of nothing: w is nil by then.
func BadBuilt(ctx context.Context) (w *worker, err error) {
	w = &worker{}
	defer func() {
		if err != nil {
			w.closeAll(ctx)
		}
	}()
	if w.dev, err = gpu.Open(ctx, gpu.Config{}); err != nil { // want "BW5104 .w.dev. .*gpu.Device. is not released"
		return nil, err
	}
	if w.q, err = w.dev.Queue(0); err != nil {
		return nil, err
	}
	return w, nil
}

// BadKernelReturned closes the module with its end, and with it the kernel.
func BadKernelReturned(ctx context.Context, dev *gpu.Device, source []byte) (*gpu.Kernel, error) {
	mod, err := dev.Module(ctx, source)
	if err != nil {
		return nil, err
	}
	defer mod.Close(ctx)
	return mod.Kernel("scale") // want "BW5111 .mod. .*gpu.Module. has ended by Close, and a view of it .* is returned"
}

func BadKernelOfHelper(ctx context.Context, q *gpu.Queue, mod *gpu.Module) error {
	k, err := mod.Kernel("scale")
	if err != nil {
		return err
	}
	if err := post(ctx, q, k); err != nil {
		return err
	}
	if err := mod.Close(ctx); err != nil {
		return err
	}
	return post(ctx, q, k) // want "BW5111 .mod. .*gpu.Module. has ended by Close, and a view of it .* is used"
}

func BadModuleClosed(ctx context.Context, mod *gpu.Module) (*gpu.Kernel, error) {
	if err := mod.Close(ctx); err != nil {
		return nil, err
	}
	return mod.Kernel("scale") // want "BW5101 .mod. .*gpu.Module. is used after Close"
}

func BadDeviceFirst(ctx context.Context) (err error) {
	dev, err := gpu.Open(ctx, gpu.Config{})
	if err != nil {
		return err
	}
	q, err := dev.Queue(0)
	if err != nil {
		return errors.Join(err, dev.Close())
	}
	return errors.Join(dev.Close(), q.Close()) // want "BW5107 .dev. .*gpu.Device. is ended by Close while a handle on a part of it is not"
}

func BadDeviceFirstOfDefers(ctx context.Context, dev *gpu.Device) error {
	r, err := gpu.New(dev, inGPU, 8)
	if err != nil {
		return err
	}
	defer r.Close()
	q, err := dev.Queue(0)
	if err != nil {
		return err
	}
	defer q.Close()
	defer dev.Close() // want "BW5107 .dev. .*gpu.Device. is ended by Close while a handle on a part of it is not"
	return q.Flush(ctx)
}
