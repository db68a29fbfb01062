//go:build amd64 || arm64

package verbs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// removals is the goroutine that hears from the kernel that a device is being removed. Drivers without a way to take a device
// from programs that have it open, as rdma_rxe is, tell these nothing: they wait until all have closed it, and meanwhile some of what
// it does stands still. Source: drivers/infiniband/core/uverbs_main.c, ib_uverbs_remove_one; lib/kobject_uevent.c.
type removals struct {
	a    *adapter
	name string // of the device's file, as "uverbs0"
	file *os.File
	raw  syscall.RawConn
	done chan struct{}
	once sync.Once
}

// kernelEvents is the multicast group of the kernel's own messages; udev's are in another.
const kernelEvents = 1

// listenRemovals begins to listen. Where that cannot be, as in some containers, there is none, and the device's own events must do.
func listenRemovals(a *adapter) *removals {
	r := &removals{a: a, name: deviceFile(a.ctx), done: make(chan struct{})}
	if r.name == "" {
		return nil
	}
	if err := r.open(); err != nil {
		a.logger.Debug("verbs: nobody will say that the device is removed", "device", a.port.name(), "reason", err)
		return nil
	}
	go r.run()
	return r
}

// deviceFile is the name of the file of an open device below /dev/infiniband.
func deviceFile(c uintptr) string {
	return abi.At(uintptr(abi.At(c).U64(abi.ContextDevice))).Text(abi.DeviceFile, abi.DeviceNameLen)
}

func (r *removals) open() error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: kernelEvents}); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	r.file = os.NewFile(uintptr(fd), "events of the kernel")
	if r.raw, err = r.file.SyscallConn(); err != nil {
		return errors.Join(err, r.file.Close())
	}
	return nil
}

func (r *removals) run() {
	defer close(r.done)
	buf := make([]byte, 8192)
	for {
		n, from, failed := 0, unix.Sockaddr(nil), error(nil)
		err := r.raw.Read(func(fd uintptr) bool {
			n, from, failed = unix.Recvfrom(int(fd), buf, 0)
			return failed != unix.EAGAIN
		})
		if err != nil {
			return // closed
		}
		if failed != nil { // ENOBUFS: some were lost
			continue
		}
		if s, is := from.(*unix.SockaddrNetlink); is && s.Pid == 0 && isRemoval(buf[:n], r.name) {
			r.a.remove()
		}
	}
}

// isRemoval reports whether a message of the kernel's says that the device of a file is being removed.
func isRemoval(msg []byte, name string) bool {
	head, _, _ := bytes.Cut(msg, []byte{0})
	where, removed := bytes.CutPrefix(head, []byte("remove@"))
	dir, file := path.Split(string(where))
	return removed && file == name && path.Base(dir) == "infiniband_verbs"
}

func (r *removals) close() {
	if r == nil {
		return
	}
	r.once.Do(func() {
		_ = r.file.Close()
		<-r.done
	})
}

// remove ends all queues, since the device is being removed.
func (a *adapter) remove() {
	text := fmt.Sprintf("the device %s is being removed", a.port.device)
	a.going.Store(true)
	a.logger.Warn("verbs: "+text, "device", a.port.name())
	a.failAll(newCause(rdma.StatusProvider, text), text)
	if a.observer != nil {
		a.observer(rdma.Event{Kind: rdma.EventDevice, Name: a.port.name(), Err: &deviceError{a.port.name(), text}})
	}
}
