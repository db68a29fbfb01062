package bad

import (
	"fmt"
	"sync"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

func BadNoJoin(m *help.M) error {
	go func() { fmt.Println(m.Span(0, 1)) }()
	return m.Close() // joins "BW5115 .m. .* is ended by Close while a goroutine may use it"
}

func BadNoJoinDeferred(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer m.Close() // joins "BW5115 .m. .* is ended by Close while a goroutine may use it"
	go help.Peek(m)
	return nil
}

func BadJoinTooLate(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		help.Peek(m)
	}()
	err = m.Close() // joins "BW5115 .m. .* is ended by Close while a goroutine may use it"
	wg.Wait()
	return err
}

func BadDeferOrderJoin(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer m.Close() // joins "BW5115 .m. .* is ended by Close while a goroutine may use it"
	wg.Go(func() { help.Peek(m) })
	return nil
}

// BadSleepsOnly hopes.
func BadSleepsOnly(m *help.M) error {
	go help.Peek(m)
	time.Sleep(time.Second)
	return m.Close() // joins "BW5115 .m. .* is ended by Close while a goroutine may use it"
}

func BadWindowShared(r *U) error {
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	defer w.Close() // joins "BW5115 .w. .* is ended by Close while a goroutine may use it"
	for i := range 4 {
		go func() { sample.TickAt(w, i).SetHits(0) }()
	}
	return nil
}

func BadFieldShared(s *server) {
	go s.peek()
	s.close() // joins "BW5115 .s.m. .* is ended by close while a goroutine may use it"
}

func (s *server) peek() { fmt.Println(s.m.Span(0, 1)) }

func BadJoinedAndLeaked(dom *rdma.Domain) error {
	m, err := help.Open(dom) // joins "BW5104 .m. .* is not released on every path"
	if err != nil {
		return err
	}
	done := make(chan int)
	go func() { done <- help.Peek(m) }()
	<-done
	return nil
}
