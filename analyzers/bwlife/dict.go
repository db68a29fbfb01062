package bwlife

import (
	"iter"
	"slices"
)

// dict is a map with few entries that is copied often. Its zero value is empty.
type dict[K comparable, V any] struct{ list []entry[K, V] }

type entry[K comparable, V any] struct {
	key K
	val V
}

func (d *dict[K, V]) len() int { return len(d.list) }

func (d *dict[K, V]) index(k K) int {
	for i := range d.list {
		if d.list[i].key == k {
			return i
		}
	}
	return -1
}

func (d *dict[K, V]) get(k K) (v V, ok bool) {
	if i := d.index(k); i >= 0 {
		return d.list[i].val, true
	}
	return v, false
}

func (d *dict[K, V]) has(k K) bool { return d.index(k) >= 0 }

func (d *dict[K, V]) set(k K, v V) {
	if i := d.index(k); i >= 0 {
		d.list[i].val = v
		return
	}
	d.list = append(d.list, entry[K, V]{k, v})
}

func (d *dict[K, V]) drop(k K) {
	if i := d.index(k); i >= 0 {
		d.list = slices.Delete(d.list, i, i+1)
	}
}

// all are the entries. Entries may be set and dropped meanwhile; new ones are not among them.
func (d *dict[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i := len(d.list) - 1; i >= 0; i-- {
			if i < len(d.list) && !yield(d.list[i].key, d.list[i].val) {
				return
			}
		}
	}
}

func (d *dict[K, V]) clone() dict[K, V] {
	return dict[K, V]{slices.Clone(d.list)}
}
