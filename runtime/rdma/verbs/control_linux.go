//go:build amd64 || arm64

package verbs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/exchange"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// Bounds of what is exchanged.
const (
	maxHello   = 4096
	maxText    = 512
	maxFrame   = 8192 // bytes of a message
	maxPending = 4096 // messages that wait to be sent: a peer that reads none of them is given up
	maxAsks    = 1024 // questions under way
	farewell   = time.Second
)

// control is the TCP connection beside a queue pair.
type control struct {
	q    *queue
	conn net.Conn
	done sync.WaitGroup

	mu     sync.Mutex
	wake   chan struct{} // there is something to send, or nothing ever again
	unsent [][]byte
	last   bool // nothing is sent any more behind what waits
	over   bool // nothing is sent any more at all
	asks   map[uint32]asking
	nextID uint32
}

// asking is a question under way.
type asking struct {
	name   keyName
	answer chan peerKey // of one; nil where the answer goes to the keyring
}

// onlyYours is beside the rights of an answer, where the key is for the connection only that it was asked on.
const onlyYours = 1 << 15

var errGone = errors.New("the connection to the peer has ended")

func newControl(q *queue, conn net.Conn) *control {
	return &control{q: q, conn: conn, wake: make(chan struct{}, 1), asks: map[uint32]asking{}}
}

// start begins to read and write. What follows goes both ways until the queue is closed.
func (c *control) start() {
	_ = c.conn.SetDeadline(time.Time{})
	c.done.Add(2)
	go c.write()
	go c.read()
}

// frame is a message with its length in front.
func frame(m exchange.MessageMember) ([]byte, error) {
	x := exchange.Message{Value: m}
	b, err := x.AppendBinary(make([]byte, 4, 128))
	if err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	return b, nil
}

// readFrame reads a message.
func readFrame(r io.Reader) (exchange.MessageMember, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > maxFrame {
		return nil, fmt.Errorf("%w: a message of %d bytes, want 1 to %d", rdma.ErrProtocol, n, maxFrame)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	var m exchange.Message
	if err := m.UnmarshalBinary(b); err != nil {
		return nil, fmt.Errorf("%w: %w", rdma.ErrProtocol, err)
	}
	return m.Value, nil
}

// send puts a message behind those that wait to be sent.
func (c *control) send(m exchange.MessageMember, last bool) {
	b, err := frame(m)
	if err != nil {
		return // a text or a name that is too long: callers cut them
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last || c.over || len(c.unsent) >= maxPending {
		return
	}
	c.unsent = append(c.unsent, b)
	c.last = last
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write sends what waits, until the connection ends.
func (c *control) write() {
	defer c.done.Done()
	for {
		c.mu.Lock()
		bufs, last, over := net.Buffers(c.unsent), c.last, c.over
		c.unsent = nil
		c.mu.Unlock()
		if len(bufs) > 0 {
			_ = c.conn.SetWriteDeadline(time.Now().Add(c.q.dom.adapter.handshake))
			if _, err := bufs.WriteTo(c.conn); err != nil {
				c.q.fail(c.q.lost("telling the peer: %v", err), "it cannot be reached")
				return
			}
			continue
		}
		if last || over {
			return
		}
		<-c.wake
	}
}

// read does what the peer says, until the connection ends.
func (c *control) read() {
	defer c.done.Done()
	for {
		m, err := readFrame(c.conn)
		if err == nil {
			err = c.heard(m)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("it went away without a word")
			}
			if c.q.parting.word.Load() == nil { // else it has said why
				c.q.fail(c.q.lost("%v", err), err.Error())
			}
			c.endAsks()
			return
		}
	}
}

// heard does what one message asks for.
func (c *control) heard(m exchange.MessageMember) error {
	q := c.q
	switch m := m.(type) {
	case *exchange.Ask:
		r, why := q.dom.asked(q, rdma.RKey(m.Key), m.Epoch)
		answer := &exchange.Answer{ID: m.ID, Text: why}
		if r != nil {
			answer.Addr, answer.Bytes, answer.Rights = r.keys.Addr, r.len, uint16(r.rights)
			if r.only != nil {
				answer.Rights |= onlyYours
			}
		}
		c.send(answer, false)
	case *exchange.Answer:
		c.answered(m)
	case *exchange.Ended:
		q.postMu.Lock()
		q.keys.end(rdma.RKey(m.Key), m.Epoch)
		q.postMu.Unlock()
		c.send(&exchange.Forgot{Key: m.Key, Epoch: m.Epoch}, false)
	case *exchange.Forgot:
		q.dom.forgotten(q, rdma.RKey(m.Key), m.Epoch)
	case *exchange.Failed:
		q.heardFailed(m)
	case *exchange.Posted:
		q.peerPosted(m.Receives)
	case *exchange.Wants:
		q.peerWants(m.Used)
	default:
		return fmt.Errorf("%w: it said %T in the midst of a connection", rdma.ErrProtocol, m)
	}
	return nil
}

// ask asks about a key and waits for the answer.
func (c *control) ask(ctx context.Context, key rdma.RKey, epoch uint32) (peerKey, error) {
	answer := make(chan peerKey, 1)
	id, err := c.put(keyName{key, epoch}, answer)
	if err != nil {
		return peerKey{}, err
	}
	select {
	case k, ok := <-answer:
		if !ok {
			return peerKey{}, errGone
		}
		return k, nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.asks, id)
		c.mu.Unlock()
		return peerKey{}, context.Cause(ctx)
	}
}

// askLater asks about a key; the answer goes to the keyring, and then what waits is tried again. The post lock is held.
func (c *control) askLater(key rdma.RKey, epoch uint32) {
	if _, err := c.put(keyName{key, epoch}, nil); err != nil {
		c.q.fail(c.q.lost("asking about a key: %v", err), err.Error())
	}
}

func (c *control) put(name keyName, answer chan peerKey) (uint32, error) {
	c.mu.Lock()
	if c.over || c.last {
		c.mu.Unlock()
		return 0, errGone
	}
	if len(c.asks) >= maxAsks {
		c.mu.Unlock()
		return 0, fmt.Errorf("%d questions about keys have no answer", maxAsks)
	}
	c.nextID++
	id := c.nextID
	c.asks[id] = asking{name, answer}
	c.mu.Unlock()
	c.send(&exchange.Ask{ID: id, Key: uint32(name.key), Epoch: name.epoch}, false)
	return id, nil
}

// answered hands an answer to who asked.
func (c *control) answered(m *exchange.Answer) {
	c.mu.Lock()
	a, ok := c.asks[m.ID]
	delete(c.asks, m.ID)
	c.mu.Unlock()
	if !ok {
		return
	}
	k := peerKey{addr: m.Addr, len: m.Bytes, rights: barewire.Rights(m.Rights &^ onlyYours), mine: m.Rights&onlyYours != 0, why: m.Text}
	if m.Bytes == 0 && k.why == "" {
		k.why = "there is no such key"
	}
	if a.answer != nil {
		a.answer <- k
		return
	}
	c.q.postMu.Lock()
	defer c.q.postMu.Unlock()
	c.q.keys.learn(a.name.key, a.name.epoch, k)
	c.q.resume()
}

// endAsks ends the questions that will have no answer.
func (c *control) endAsks() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for id, a := range c.asks {
		if a.answer != nil {
			close(a.answer)
		}
		delete(c.asks, id)
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// tellEnded and tellFailed tell the peer what its device does not.
func (c *control) tellEnded(key rdma.RKey, epoch uint32) {
	c.send(&exchange.Ended{Key: uint32(key), Epoch: epoch}, false)
}

func (c *control) tellFailed(why string, tooLong uint64) {
	c.send(&exchange.Failed{Text: cut(why), TooLong: tooLong}, true)
}

// close ends the connection, when what waits to be sent was sent or a moment has passed.
func (c *control) close() {
	if c == nil {
		return
	}
	_ = c.conn.SetDeadline(time.Now().Add(farewell))
	if t, ok := c.conn.(*net.TCPConn); ok {
		c.drainWrites()
		_ = t.CloseWrite()
	}
	c.endAsks()
	_ = c.conn.Close()
	c.done.Wait()
}

// drainWrites waits until the last message has gone, or its deadline has passed.
func (c *control) drainWrites() {
	for end := time.Now().Add(farewell); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		c.mu.Lock()
		none := len(c.unsent) == 0 || c.over
		c.mu.Unlock()
		if none {
			return
		}
	}
}

// cut makes a text fit for a message.
func cut(s string) string {
	if len(s) > maxText {
		s = s[:maxText-3] + "..."
	}
	return toValid(s)
}
