//go:build amd64 || arm64

package verbs

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
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

// deviceError is what a device reports beside completions.
type deviceError struct {
	device string
	text   string
}

func (e *deviceError) Error() string { return "verbs: " + e.device + " reports: " + e.text }

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
	case abi.EventCQErr:
		for _, q := range a.queues {
			if q.hw.cq == element {
				told = append(told, q)
			}
		}
	case abi.EventDeviceFatal:
		a.fatal.Store(true)
		for _, q := range a.queues {
			told = append(told, q)
		}
	}
	a.mu.Unlock()
	dl.Call(a.lib.ackAsyncEvent, e.block.Addr(0))
	text := eventText(kind)
	switch {
	case kind == abi.EventCommEst, kind == abi.EventSQDrained, kind == abi.EventLastWQE:
		return // what came before this side was ready: it is now; or what a queue pair that ends does
	case ofPort(kind) && element != uintptr(a.port.num):
		return // another port's
	case ofPort(kind) && kind != abi.EventPortErr:
		a.logger.Info("verbs: the device has changed", "device", a.port.name(), "event", text)
	default:
		a.logger.Warn("verbs: the device reports", "device", a.port.name(), "event", text)
	}
	for _, q := range told {
		if q.framed && (kind == abi.EventQPFatal || kind == abi.EventQPReqErr || kind == abi.EventQPAccessErr) {
			go q.parted(errors.New("the device reports: " + text)) // a connection has ended, and the peer may say why
			continue
		}
		q.fail(newCause(rdma.StatusProvider, "the device reports: "+text), "its device reports: "+text)
	}
	switch kind {
	case abi.EventPortErr:
		a.portDown.Store(true)
		time.AfterFunc(portPatience, a.portStaysDown)
	case abi.EventPortActive:
		a.portDown.Store(false)
	}
	if a.observer != nil {
		a.observer(rdma.Event{Kind: rdma.EventDevice, Name: a.port.name(), Err: &deviceError{a.port.name(), text}})
	}
}

// ofPort reports whether an event is of a port, whose number then is its element. Source: ibv_get_async_event(3).
func ofPort(kind uint32) bool {
	switch kind {
	case abi.EventPortActive, abi.EventPortErr, abi.EventLIDChange, abi.EventPKeyChange, abi.EventGIDChange, abi.EventSMChange, abi.EventReregister:
		return true
	}
	return false
}

// trouble is what is wrong with the device or its port now, for requests that could not be done; empty where nothing is.
func (a *adapter) trouble() string {
	if a.fatal.Load() {
		return "the device " + a.port.device + " has failed or is gone"
	}
	if a.going.Load() {
		return "the device " + a.port.device + " is being removed"
	}
	b, err := abi.NewBlock(abi.PortAttrRoom)
	if err != nil {
		return ""
	}
	defer b.Free()
	switch err := a.lib.do("ibv_query_port", a.lib.queryPort, a.ctx, uintptr(a.port.num), b.Addr(0)); {
	case isGone(err):
		return "the device " + a.port.device + " is gone"
	case err == nil && b.U32(abi.PortAttrState) != abi.PortActive:
		return "the port of " + a.port.name() + " is down"
	}
	return ""
}

const (
	// portPatience is how long a port may be down without its queues failing: longer than what retrying takes, which then tells more. It
	// does not always end: rdma_rxe of Linux 6.1 has been seen to leave a request alone whose packets had no route.
	portPatience = 5 * time.Second
	// goingDown is how long a port that goes down may still say that it is up, while its requests fail already: the kernel takes the
	// routes first.
	goingDown = 500 * time.Millisecond
)

// portStaysDown ends all queues, if the port is still down.
func (a *adapter) portStaysDown() {
	if !a.portDown.Load() {
		return
	}
	text := "the port of " + a.port.name() + " is down"
	a.failAll(newCause(rdma.StatusPeerLost, text), text)
}

// failAll ends all queues, and tells their peers.
func (a *adapter) failAll(c *cause, toPeer string) {
	a.mu.Lock()
	told := slices.Collect(maps.Values(a.queues))
	a.mu.Unlock()
	for _, q := range told {
		q.fail(c, toPeer)
	}
}

// troubleSoon is trouble, for a failure that a port which goes down would have made.
func (a *adapter) troubleSoon() string {
	for end := time.Now().Add(goingDown); ; time.Sleep(goingDown / 10) {
		if why := a.trouble(); why != "" || time.Now().After(end) {
			return why
		}
	}
}

// isGone reports whether an error is that of a device which the kernel has taken away: it has then ended all that was made of it.
// Source: drivers/infiniband/core/rdma_core.c, uverbs_disassociate_api.
func isGone(err error) bool { return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENODEV) }

// undo calls a function that gives something back. With a device that is gone it is given back already.
func (a *adapter) undo(what string, fn uintptr, args ...uintptr) error {
	err := a.lib.do(what, fn, args...)
	if a.fatal.Load() && isGone(err) {
		return nil
	}
	return err
}

// eventText is what an event means. Source: enum ibv_event_type.
func eventText(kind uint32) string {
	texts := map[uint32]string{
		abi.EventCQErr: "a completion queue has overrun", abi.EventQPFatal: "a queue pair has failed",
		abi.EventQPReqErr: "the peer sent what is no valid request", abi.EventQPAccessErr: "the peer asked for what it may not",
		abi.EventDeviceFatal: "the device has failed", abi.EventPortActive: "the port is up", abi.EventPortErr: "the port is down",
		abi.EventMigrated: "a connection has another path", abi.EventMigrateErr: "a connection could not be given another path",
		abi.EventPKeyChange: "the port's partitions have changed", abi.EventSMChange: "the subnet has another manager", abi.EventReregister: "the subnet's manager wants all to register again",
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
