// Package schema compiles BARE schemas: files in, meaning and layout out.
//
// # The language
//
// A schema is declarations: a name and a type. All of BARE is here, in the new
// spelling of drafts 03 and later, in the old one (go-bare's), and in any mix.
//
//	type Name   str                        # a name for a type is a type of its own
//	type Level  enum { LOW HIGH = 5 TOP }  # 0, 5, 6
//	type Line   list<Point>                # names may be used before they are declared
//	type Point  struct { x: f32 y: f32 }
//	type Shape  union { Point | Line = 4 | void }
//
//	uint int                     1 to 10 bytes, 64 bits
//	u8 u16 u32 u64 i8 … i64      little-endian
//	f32 f64 bool str void
//	data, data[16]               bytes, counted or a fixed number
//	optional<T>  list<T>  list<T>[8]  map<K><V>
//	enum {…}  union {…}  struct {…}        also without a name, anywhere
//
// The old spelling: type X {…}, enum X u16 {…}, string, data<16>, []T, [8]T,
// map[K]V, (A | B). The bytes are the same, but an enum with a size is that many
// bytes, where any other enum is a uint.
//
// A type has no bytes only if it is void, which may be nothing but a member of a
// union. No type may contain itself, by any route. A map's key is a whole number,
// bool, str, data or an enum. Numbers that are not written are one more than the
// one before.
//
// Comments start with #. Those right above a declaration, field, member or value, or
// behind it, describe it.
//
// # Annotations
//
// A comment that starts with #@ means something to this compiler and nothing to any
// other, so an annotated schema stays a BARE schema. It stands right above what it
// belongs to, or behind it on its line.
//
//	#@package(name)          at the top: the Go package; files with another are apart
//	#@residency(cpu, numa(0), cxl, cxl_shared, gpu, managed, unified)
//	#@residency(cpu, numa(0), cxl, fallback=unified)
//	                         on a type: where its regions may live; where nothing is said, in cpu
//	#@register(local, remote_read, remote_write, remote_atomic)
//	                         on a type: what its registered regions may grant
//	#@align(64)              on a type: regions start and items repeat at such multiples
//	#@cacheline              on a field: on lines of its own (of 64 bytes, or #@cacheline(128))
//	#@atomic                 on a u64, i64, u32 or i32, by whatever name: aligned, used atomically
//	#@atomic(sequence)       on a u64, the first of several fields: the element's sequence
//	#@pad                    on data[n]: zeros, hidden in Go
//	#@max(32)                on a str, data, list or map, or the declaration of one: at most so many
//	#@ref(Type, remote_read) on data[48]: a remote reference to a region of Type
//	#@go(name=ID)            its name in Go
//
// What an annotation asks for is checked, never arranged: a field that would need
// padding is an error that says how much, and where.
//
// A type with residency or register has a fixed or a greatest size. Generated code
// then has a function for each place and for each set of the rights, and none for
// others; local is always among them. Fields with ref become typed references
// whose rights are exactly those listed, which the type's register must list too.
//
// A sequence is for those who read and publish elements as a whole: odd while one is
// written, greater after. Only a type that has one gets functions for that; all its
// peers must follow them, so the type's hash says that it has one. A counter of
// something else is atomic without an argument, and stands anywhere.
//
// # Files
//
// Files that are given together and have the same #@package see each other's
// types; so do those that have none. BARE has no imports.
//
// # Drafts
//
// Options.Spec chooses a draft, 11 to 14, and makes an error of what it forbids.
// Drafts 12 to 14 are known by their differences: values and tags ascend from 12
// on, data may key a map from 13 on, a field's name may have _ and digits from
// 14 on. Without a draft all is taken that real files have, and what others would
// refuse is said as information.
package schema
