package wire

import "iter"

// viewType is what generated view types are made of.
type viewType interface {
	~struct {
		ix         *Index
		off, frame uint32
	}
}

// List is the view of a list whose elements have views of their own. It is
// good as long as the index and the message are.
type List[V viewType] struct{ e Elems }

// ListOf makes a list view. It is for generated code.
func ListOf[V viewType](e Elems) List[V] { return List[V]{e} }

// Len returns how many elements there are.
func (l List[V]) Len() int { return int(l.e.n) }

// At returns the element with index i in constant time. It panics as a slice
// does if there is none.
func (l List[V]) At(i int) V { return V(l.e.At(i)) }

// All iterates over the elements with their indices.
func (l List[V]) All() iter.Seq2[int, V] {
	return func(yield func(int, V) bool) {
		for i := range l.Len() {
			if !yield(i, V(l.e.At(i))) {
				return
			}
		}
	}
}

// StrList is the view of a list<str>. Its strings are the message's own memory.
type StrList struct{ e Elems }

// StrListOf makes a list view. It is for generated code.
func StrListOf(e Elems) StrList { return StrList{e} }

// Len returns how many strings there are.
func (l StrList) Len() int { return int(l.e.n) }

// At returns the string with index i in constant time. It panics as a slice
// does if there is none.
func (l StrList) At(i int) string { return l.e.At(i).Str() }

// All iterates over the strings with their indices.
func (l StrList) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range l.Len() {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// DataList is the view of a list<data>. Its slices are the message's own memory.
type DataList struct{ e Elems }

// DataListOf makes a list view. It is for generated code.
func DataListOf(e Elems) DataList { return DataList{e} }

// Len returns how many there are.
func (l DataList) Len() int { return int(l.e.n) }

// At returns the one with index i in constant time. It panics as a slice does
// if there is none.
func (l DataList) At(i int) []byte { return l.e.At(i).Data() }

// All iterates over them with their indices.
func (l DataList) All() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i := range l.Len() {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}
