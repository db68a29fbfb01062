// Package wire is what generated BARE codecs stand on: errors that name the
// field and the byte, varints, strings, bulk copies of numbers, streams and
// frames, and the indexes and casts of views. It needs the standard library only.
//
// Generated types have the standard library's methods (AppendBinary,
// MarshalBinary, UnmarshalBinary) and three of their own: BinarySize,
// DecodeBinary, which takes Options, and DecodeStream, which takes a Reader.
//
// # Strictness
//
// Decoding accepts exactly what the specification calls valid: varints are
// minimal and at most 64 bits, a bool or an optional's first byte is 0 or 1,
// enum values and union tags are of the schema, strings are UTF-8, the keys of
// a map differ, limits of #@max hold, and UnmarshalBinary leaves no byte over.
// Floats keep their bits, NaNs too. Encoding refuses what decoding would.
//
// # Memory
//
// A message of n bytes takes at most a constant times n of memory to decode,
// whatever lengths it claims: a list of c elements that take at least m bytes
// each is accepted only where c×m bytes are left that no list around it has
// claimed. So the elements of all lists together, decoded or not, have their
// bytes in the message. The constants, in bytes of memory for a byte of
// message, on a machine of 64 bits:
//
//	str, data            2 (1 for the value; small strings share blocks of at most 1 KiB)
//	                     and nothing in Alias mode
//	list<u8> … list<f64> 1
//	list<uint>           8 (each a byte on the wire)
//	list<str>            16, list<data> and list<list<T>> 24 (each empty)
//	list<struct>         the struct's size in Go over its smallest size on the wire: a
//	                     struct of lists alone takes 24
//	list<optional<T>>    8 where T is large in Go (a pointer; an absent one takes
//	                     nothing more), else the size of wire.Optional[T], at most 32
//	union                16, and the member's size in Go over its smallest
//	                     size on the wire and the tag
//	map<K><V>            four times the sizes of K and V in Go over their smallest on the
//	                     wire; but Go gives a map that has one entry the room of eight and
//	                     a header: 56 and eight times the sizes of K and V for a list's
//	                     smallest map of one entry
//
// An error is found by a second walk over the message, which takes no memory
// but for the keys of the map it stands in. A Reader holds a message while
// it arrives: at most twice what has arrived, and never more than its limit.
package wire
