package rdma_test

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// over is a context that has ended.
func over(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// calmly runs f, which must neither panic nor hang.
func calmly(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	select {
	case p := <-done:
		if p != nil {
			t.Errorf("%s panics: %v", what, p)
		}
	case <-time.After(5 * time.Second):
		t.Errorf("%s hangs", what)
	}
}

// TestZeroValues calls each method of each exported type on its zero value, and on
// nil where it is used by pointer. Nothing panics or hangs, and what can fail fails.
func TestZeroValues(t *testing.T) {
	for _, v := range []any{
		new(rdma.Device), (*rdma.Device)(nil), new(rdma.Domain), (*rdma.Domain)(nil), new(rdma.Listener), (*rdma.Listener)(nil),
		new(rdma.Conn), (*rdma.Conn)(nil), new(rdma.Batch), (*rdma.Batch)(nil), rdma.Op{}, rdma.AtomicOp[uint64]{},
		new(rdma.Scoped[sample.Tick, barewire.RemoteRead]), (*rdma.Scoped[sample.Tick, barewire.RemoteRead])(nil),
		new(soft.Rule), new(rdma.OpError), new(rdma.StatusError), rdma.Status(0), rdma.Status(200), rdma.Verb(0), rdma.Verb(200),
		rdma.DSCP(0), rdma.DSCP(-5), rdma.InfiniBand{}, rdma.RoCEv1{}, rdma.RoCEv2{}, rdma.IWARP{}, rdma.SoftRDMA{},
		new(barewire.Region[sample.Tick, barewire.CPU, barewire.Local]), (*barewire.Region[sample.Tick, barewire.CPU, barewire.Local])(nil),
		barewire.Span[sample.Tick, barewire.Local]{}, barewire.Window[sample.Tick, barewire.Local]{}, barewire.Remote[sample.Tick, barewire.RemoteRead]{},
		barewire.Ref{}, new(barewire.Ref), barewire.Kind(0), barewire.Kind(200), barewire.Rights(0), barewire.Rights(0xffff),
		new(barewire.RegionError),
	} {
		everyMethod(t, v)
	}
}

// everyMethod calls the methods of v with zero arguments and a context that is over.
func everyMethod(t *testing.T, v any) {
	t.Helper()
	rv := reflect.ValueOf(v)
	if s := fmt.Sprintf("%v %+v %s", v, v, v); strings.Contains(s, "PANIC") {
		t.Errorf("%T prints %s", v, s)
	}
	for i := range rv.NumMethod() {
		m := rv.Type().Method(i)
		if m.Name == "Format" {
			continue // printing calls it
		}
		what := fmt.Sprintf("(%T).%s", v, m.Name)
		if rv.Kind() == reflect.Pointer {
			what = fmt.Sprintf("(%T, nil: %v).%s", v, rv.IsNil(), m.Name)
		}
		calmly(t, what, func() {
			var in []reflect.Value
			for j := 1; j < m.Type.NumIn(); j++ {
				arg := m.Type.In(j)
				if arg == reflect.TypeFor[context.Context]() {
					in = append(in, reflect.ValueOf(over(t)))
					continue
				}
				if m.Type.IsVariadic() && j == m.Type.NumIn()-1 {
					continue
				}
				in = append(in, reflect.Zero(arg))
			}
			out := rv.Method(i).Call(in)
			for _, o := range out {
				if seq, ok := o.Interface().(iter.Seq2[rdma.Notification, error]); ok {
					for range seq {
						continue
					}
				}
			}
		})
	}
}
