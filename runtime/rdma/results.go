package rdma

import "sync"

// results keeps what words were before atomics until somebody asks. Who never asks
// costs nobody else a result: when all places are taken, the oldest goes.
type results struct {
	mu  sync.Mutex
	all []result // the first two are the ends of the lists of free and of used places
}

// result is a place for what a word was before an atomic, in one of the lists.
type result struct {
	seq        uint64
	word       uint64
	there      bool // the operation has ended
	prev, next uint32
}

const (
	freeList uint32 = iota
	usedList
	firstPlace
)

// init makes places for n results. There must be more than operations can be outstanding.
func (t *results) init(n int) {
	t.all = make([]result, int(firstPlace)+n)
	t.all[freeList].prev, t.all[freeList].next = freeList, freeList
	t.all[usedList].prev, t.all[usedList].next = usedList, usedList
	for i := range n {
		t.push(freeList, firstPlace+uint32(i))
	}
}

// push puts a place, which is in no list, at the end of one.
func (t *results) push(list, place uint32) {
	last := t.all[list].prev
	t.all[place].prev, t.all[place].next = last, list
	t.all[last].next, t.all[list].prev = place, place
}

// pull takes a place out of its list.
func (t *results) pull(place uint32) {
	p := &t.all[place]
	t.all[p.prev].next, t.all[p.next].prev = p.next, p.prev
}

// begin gives the operation seq a place: one that is free for the longest time, or
// that of the oldest operation.
func (t *results) begin(seq uint64) (place uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	place = t.all[freeList].next
	if place == freeList {
		place = t.all[usedList].next
	}
	t.pull(place)
	t.all[place].seq, t.all[place].there = seq, false
	t.push(usedList, place)
	return place
}

// end puts in what the operation seq gave.
func (t *results) end(place uint32, seq, word uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := &t.all[place]; p.seq == seq {
		p.word, p.there = word, true
	}
}

// take gives what the operation seq gave, and frees its place. The result stays there until the
// place is needed.
func (t *results) take(place uint32, seq uint64) (word uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.all[place]
	if p.seq != seq || !p.there {
		return 0, false
	}
	t.pull(place)
	t.push(freeList, place)
	return p.word, true
}
