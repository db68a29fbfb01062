package good

import (
	"context"
	"errors"
	"fmt"
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

func GoodWaitGroup(m *help.M) error {
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			fmt.Println(m.Span(0, 1))
		}()
	}
	wg.Wait()
	return m.Close()
}

func GoodWaitGroupGo(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { help.Peek(m) })
	wg.Go(func() { help.Peek(m) })
	wg.Wait()
	return m.Close()
}

func GoodDeferredWait(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer m.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { help.Peek(m) })
	return nil
}

func GoodDoneChannel(m *help.M) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		help.Peek(m)
	}()
	<-done
	return m.Close()
}

func GoodResultChannel(ctx context.Context, c *rdma.Conn, m *help.M, rem help.Rem) error {
	errs := make(chan error, 1)
	go func() {
		op, err := help.Start(c, m, rem)
		if err != nil {
			errs <- err
			return
		}
		errs <- op.Wait(ctx)
	}()
	err := <-errs
	return errors.Join(err, m.Close())
}

func GoodSelectJoin(ctx context.Context, m *help.M) error {
	done := make(chan struct{})
	go func() { help.Peek(m); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		<-done
	}
	return m.Close()
}

// crew is what programs have of errgroup.
type crew struct {
	wg   sync.WaitGroup
	once sync.Once
	err  error
}

func (g *crew) Go(f func() error) {
	g.wg.Go(func() {
		if err := f(); err != nil {
			g.once.Do(func() { g.err = err })
		}
	})
}

func (g *crew) Wait() error { g.wg.Wait(); return g.err }

func GoodCrew(ctx context.Context, c *rdma.Conn, m *help.M, rem help.Rem) (err error) {
	defer func() { err = errors.Join(err, m.Close()) }()
	var g crew
	for range 2 {
		g.Go(func() error {
			op, err := help.Start(c, m, rem)
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		})
	}
	return g.Wait()
}

func GoodOwnedByGoroutine(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	go func() {
		defer m.Close()
		help.Peek(m)
	}()
	return nil
}

func GoodOwnedByNamed(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	go help.Drop(m)
	return nil
}

// GoodServesForGood has a goroutine that ends with the program.
func GoodServesForGood(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	go func() {
		for {
			help.Peek(m)
		}
	}()
	return nil
}

// GoodStops gives the goroutine's owner what it takes to wait.
type worker struct {
	m    *help.M
	done chan struct{}
}

func (w *worker) run() { help.Peek(w.m); close(w.done) }

func (w *worker) GoodStop() error {
	<-w.done
	return w.m.Close()
}

func GoodWorker(dom *rdma.Domain) (*worker, error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	w := &worker{m: m, done: make(chan struct{})}
	go w.run()
	return w, nil
}

func GoodWindowJoined(r *U) (err error) {
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	var wg sync.WaitGroup
	for i := range w.Len() {
		wg.Go(func() { sample.TickAt(w, i).SetHits(0) })
	}
	wg.Wait()
	return nil
}
