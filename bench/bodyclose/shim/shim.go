// Package shim has responses of HTTP in the place of the runtime's handles: what makes a region or opens a window makes a
// request, and what closes one closes its body. Programs that were written for the runtime, and translated, import it in the place of its packages.
package shim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
)

// The markers and types of the runtime, as far as signatures name them.
type (
	Unregistered    struct{}
	Local           struct{}
	RemoteRead      struct{}
	RemoteWrite     struct{}
	RemoteReadWrite struct{}
	RemoteAtomic    struct{}
	CPU             struct{}
	Access          = any
	Registered      = any
	RemoteAccess    = any
	Residency       = any

	Domain          struct{}
	Conn            struct{ Name string }
	Listener        struct{}
	Grant[T, A any] struct{}
	Place[T, R any] struct{}
	Option          func()
	Back            struct{ Bytes int }

	Tick   struct{ Price, Qty float64 }
	Sensor struct{ Temp float32 }
)

// Handles are responses.
type (
	Region[T, R, A any] = http.Response
	Window[T, A any]    = *http.Response
	TickCPU[A any]      = http.Response
	TickWindow[A any]   = *http.Response
	TickRemote[A any]   = Remote
	SensorCPU[A any]    = http.Response
	SensorWindow[A any] = *http.Response
	SensorRemote[A any] = Remote
	Remote              struct{}
	Span                struct{ n int }
	TickView            struct{ b []byte }
	SensorView          struct{ b []byte }
)

// The errors.
var (
	ErrMoved        = errors.New("moved")
	ErrReleased     = errors.New("released")
	ErrBorrowed     = errors.New("borrowed")
	ErrInFlight     = errors.New("in flight")
	ErrRange        = errors.New("range")
	ErrClosed       = errors.New("closed")
	ErrOffered      = errors.New("offered")
	ErrWindowClosed = errors.New("window closed")
)

func TickInCPU() (p Place[Tick, CPU])                           { return }
func SensorInCPU() (p Place[Sensor, CPU])                       { return }
func TickLocal() (g Grant[Tick, Local])                         { return }
func TickRemoteRead() (g Grant[Tick, RemoteRead])               { return }
func TickRemoteWrite() (g Grant[Tick, RemoteWrite])             { return }
func TickRemoteReadWrite() (g Grant[Tick, RemoteReadWrite])     { return }
func SensorLocal() (g Grant[Sensor, Local])                     { return }
func SensorRemoteRead() (g Grant[Sensor, RemoteRead])           { return }
func SensorRemoteReadWrite() (g Grant[Sensor, RemoteReadWrite]) { return }
func Named(string) Option                                       { return nil }
func HugePages() Option                                         { return nil }

// New is an allocation.
func New[T, R any](Place[T, R], int, ...Option) (*http.Response, error) {
	return http.Get("http://localhost/")
}

// Open is a window: a response of its own.
func Open(r *http.Response) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodGet, r.Request.URL.String(), nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// With opens and closes it.
func With(r *http.Response, f func(*http.Response) error) error {
	w, err := Open(r)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	return f(w)
}

// Register takes a response and gives another, as a function does that unpacks the body. After an error the first is good.
func Register[T, A any](_ *Domain, r *http.Response, _ Grant[T, A]) (*http.Response, error) {
	return wrapped(r)
}

// Deregister is the same, the other way.
func Deregister(_ context.Context, r *http.Response) (*http.Response, error) { return wrapped(r) }

type both struct {
	io.Reader
	io.Closer
}

func wrapped(r *http.Response) (*http.Response, error) {
	var first [1]byte
	if _, err := r.Body.Read(first[:]); err != nil {
		return nil, err
	}
	next := *r
	next.Body = both{io.MultiReader(bytes.NewReader(first[:]), r.Body), r.Body}
	return &next, nil
}

// What uses a handle.
func Len(r *http.Response) int               { return int(r.ContentLength) }
func String(r *http.Response) string         { return r.Status }
func SpanOf(r *http.Response, i, n int) Span { return Span{int(r.ContentLength) - i + n} }
func (s Span) Len() int                      { return s.n }
func RemoteOf(r *http.Response) (rem Remote, err error) {
	_, err = r.Body.Read(make([]byte, 1))
	return
}
func Offer(_ context.Context, _ *Conn, _ string, r *http.Response) error {
	_, err := r.Body.Read(make([]byte, 1))
	return err
}
func Backing(r *http.Response) (Back, error) { return Back{int(r.ContentLength)}, nil }
func Import[T, A any](_ context.Context, _ *Conn, _ string, _ Grant[T, A]) (rem Remote, err error) {
	return
}
func (r Remote) Len() int                                       { return 1 }
func (r Remote) Slice(_, _ int) Remote                          { return r }
func (dom *Domain) Dial(context.Context, string) (*Conn, error) { return &Conn{}, nil }
func (c *Conn) Close() error                                    { return nil }
func (c *Conn) Receive(context.Context, []byte) (int, error)    { return 0, io.EOF }
func (ln *Listener) Accept(context.Context) (*Conn, error)      { return &Conn{}, nil }

// Elements are what is read.
func read(w *http.Response) (b []byte) {
	b = make([]byte, 8)
	n, _ := w.Body.Read(b)
	return b[:n]
}

func TickAt(w *http.Response, _ int) TickView     { return TickView{read(w)} }
func SensorAt(w *http.Response, _ int) SensorView { return SensorView{read(w)} }

func TickAll(w *http.Response) iter.Seq2[int, TickView] {
	return func(yield func(int, TickView) bool) { yield(0, TickAt(w, 0)) }
}

func SensorAll(w *http.Response) iter.Seq2[int, SensorView] {
	return func(yield func(int, SensorView) bool) { yield(0, SensorAt(w, 0)) }
}

func TickSnapshot(w *http.Response, _ int, x *Tick) (uint64, error) {
	x.Price = float64(len(read(w)))
	return 0, nil
}
func TickPublish(w *http.Response, _ int, _ *Tick) error { read(w); return nil }

func (v TickView) Price() float64      { return float64(len(v.b)) }
func (v TickView) SetPrice(float64)    {}
func (v TickView) Qty() float64        { return float64(len(v.b)) }
func (v TickView) SetQty(float64)      {}
func (v TickView) Load(x *Tick) error  { x.Price = v.Price(); return nil }
func (v TickView) Store(x *Tick) error { _ = x.Price; return nil }
func (v TickView) Seq() uint64         { return uint64(len(v.b)) }
func (v TickView) SetHits(uint32)      {}
func (v TickView) Hits() uint32        { return uint32(len(v.b)) }
func (v TickView) Live() uint16        { return uint16(len(v.b)) }
func (v TickView) SetLive(uint16)      {}

func (v SensorView) Temp() float32        { return float32(len(v.b)) }
func (v SensorView) SetTemp(float32)      {}
func (v SensorView) Seq() uint64          { return uint64(len(v.b)) }
func (v SensorView) SetSeq(uint64)        {}
func (v SensorView) Kind() int            { return len(v.b) }
func (v SensorView) Load(x *Sensor) error { x.Temp = v.Temp(); return nil }
