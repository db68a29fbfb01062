//go:build amd64 || arm64

package verbs

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// pollable duplicates a descriptor of the library's for Go's poller: the library keeps and closes its own. Both are without
// blocking then, as the flag is one of the open file's.
func pollable(fd int, name string) (*os.File, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("duplicating the descriptor of %s: %w", name, err)
	}
	if err := unix.SetNonblock(dup, true); err != nil {
		return nil, errors.Join(fmt.Errorf("the descriptor of %s: %w", name, err), unix.Close(dup))
	}
	return os.NewFile(uintptr(dup), name), nil
}

// events is the goroutine that hears what a device says beside completions. Source: ibv_get_async_event(3).
type events struct {
	a     *adapter
	file  *os.File
	block abi.Block
	done  chan struct{}
	once  sync.Once
}

func listenEvents(a *adapter, fd int) (*events, error) {
	file, err := pollable(fd, "events of "+a.port.name())
	if err != nil {
		return nil, err
	}
	block, err := abi.NewBlock(abi.AsyncEventSize)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	e := &events{a: a, file: file, block: block, done: make(chan struct{})}
	go e.run()
	return e, nil
}

func (e *events) run() {
	defer close(e.done)
	raw, err := e.file.SyscallConn()
	if err != nil {
		return
	}
	for {
		got := false
		err := raw.Read(func(uintptr) bool {
			r, errno := dl.Call(e.a.lib.getAsyncEvent, e.a.ctx, e.block.Addr(0))
			got = r == 0
			return got || errno != syscall.EAGAIN
		})
		if err != nil || !got {
			return
		}
		e.handle()
	}
}

// handle tells whom an event is about, and the log. Events must be acknowledged before their object can be destroyed.
func (e *events) handle() {
	kind, element := e.block.U32(abi.AsyncEventType), uintptr(e.block.U64(abi.AsyncEventElement))
	a := e.a
	a.mu.Lock()
	var told []*queue
	switch kind {
	case abi.EventQPFatal, abi.EventQPReqErr, abi.EventQPAccessErr:
		if q := a.queues[element]; q != nil {
			told = append(told, q)
		}
	case abi.EventDeviceFatal, abi.EventCQErr:
		for _, q := range a.queues {
			told = append(told, q)
		}
	}
	a.mu.Unlock()
	dl.Call(a.lib.ackAsyncEvent, e.block.Addr(0))
	switch kind {
	case abi.EventCommEst:
		return // what came before this side was ready: it is now
	case abi.EventPortActive, abi.EventLIDChange, abi.EventGIDChange:
		a.logger.Info("verbs: the device has changed", "device", a.port.name(), "event", eventText(kind))
	default:
		a.logger.Warn("verbs: the device reports", "device", a.port.name(), "event", eventText(kind))
	}
	for _, q := range told {
		q.fail(q.lost("the device reports: %s", eventText(kind)), "its device reports: "+eventText(kind))
	}
}

// eventText is what an event means. Source: enum ibv_event_type.
func eventText(kind uint32) string {
	texts := map[uint32]string{
		abi.EventCQErr: "a completion queue has overrun", abi.EventQPFatal: "a queue pair has failed",
		abi.EventQPReqErr: "the peer sent what is no valid request", abi.EventQPAccessErr: "the peer asked for what it may not",
		abi.EventDeviceFatal: "the device has failed", abi.EventPortActive: "the port is up", abi.EventPortErr: "the port is down",
		abi.EventLIDChange: "the port has another LID", abi.EventGIDChange: "the table of addresses has changed",
	}
	if s := texts[kind]; s != "" {
		return s
	}
	return fmt.Sprintf("event %d (enum ibv_event_type)", kind)
}

// close ends the goroutine.
func (e *events) close() {
	e.once.Do(func() {
		_ = e.file.Close()
		<-e.done
		e.block.Free()
	})
}
