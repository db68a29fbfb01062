package gen_test

// ugly are schemas that generators stumble over. All must give Go that builds
// and that go vet has nothing against; the names say what is hard.
var ugly = map[string]string{
	"keywords": `
type Keywords struct {
  break: u8 case: u8 chan: u8 const: u8 continue: u8 default: u8 defer: u8 else: u8 fallthrough: u8
  for: u8 func: u8 go: u8 goto: u8 if: u8 import: u8 interface: u8 package: u8 range: u8 return: u8
  select: u8 switch: u8 var: u8
}
type Predeclared struct {
  any: str append: str byte: str cap: str clear: str close: str comparable: str complex: str copy: str
  delete: str error: str false: str iota: str len: str make: str max: str min: str new: str nil: str
  panic: str print: str real: str recover: str rune: str string: str true: str uint8: str float32: str
}
`,
	"imports": `
type Imports struct {
  wire: str binary: data math: list<f32> slices: list<str> unsafe: u32 bytes: data[4] errors: bool fmt: optional<str>
  io: map<str><u8> iter: f64 maps: i64 strconv: int strings: list<data> utf8: uint bare: u8 cmp: u8 bits: u8
}
`,
	"locals": `
type Locals struct {
  x: str y: data b: list<str> d: map<str><data> p: optional<list<str>> o: list<optional<data>> i: u8 j: i16 k: u32 v: str n: uint
  w: data m: map<u8><list<f32>> ok: bool err: str a: int c: data[3] r: f32 s: f64 t: list<u16>[3] z: union { str | data }
}
`,
	"methods": `
type Methods struct {
  append_binary: u8 marshal_binary: str binary_size: u8 unmarshal_binary: data decode_binary: u8 decode_stream: u8
  equal: u8 clone: list<str> append_bare: u8 decode_bare: str size_bare: u8 unshare_bare: u8 encode: str decode: str
  marshal: u8 unmarshal: u8
}
type OnViews struct {
  validate: u8 bytes: u8 load: u8 store: u8 kind: u8 tag: u8 view: u8 len: u8 all: u8 at: u8 size: u8 string: u8 error: u8
  format: u8 close: u8 read: u8 write: u8 is: u8 as: u8 unwrap: u8 go_string: u8 scan: u8 seek: u8 write_to: u8 read_byte: u8
  marshal_json: u8 marshal_text: u8 gob_encode: u8 lock: u8 unlock: u8 set: u8 get: u8 value: u8 set_x: u8 x: u8
}
type OnViewsToo struct {
  name: str validate: str bytes: data load: str store: str kind: str len: str all: list<u8> at: str size: str string: str
  error: str format: str close: str read: data write: data is: str as: str unwrap: str go_string: str index: str
}
type Affixes struct {
  x: list<str> x_len: u8 x_all: u8 set_x: u8 has_x: u8 x_slice: u8 x_at: u8 len_field: u8 len: u8 equal: u8
}
`,
	"typenames": `
type Error struct { error: str }
type String str
type Type enum { TYPE LEN STRING }
type Len list<u8>
type Nil void
type Append union { Error | String | Type | Len | Nil }
type T struct { t: str }
type X struct { x: T }
type B struct { b: list<X> }
type TView struct { t: T }
type XViewOf struct { t: T }
type XOver u8
type BBinarySize u8
type ErrorView str
type AppendMember struct { a: Append }
type AppendKind u8
type AppendKindError str
type PutTSlot u8
type TSlotSize u8
`,
	"enumsonly": "type Only enum { A B C }\n",
	"oneenum":   "type One enum { ONE }\n",
	"sharednames": `
type Status enum { OK ERROR UNKNOWN }
type Result enum { OK = 1 ERROR = 2 UNKNOWN = 300 }
type Statu enum { S_OK }
type Full enum { A = 0 B = 127 }
type Wide enum { A = 128 B = 18446744073709551615 }
type StatusOK str
type Both struct { s: Status r: Result f: Full w: Wide st: StatusOK }
`,
	"unions": `
type Customer struct { name: str }
type Employee struct { name: str salary: u32 }
type Terminated void
type Person union { Customer | Employee | Terminated }
type Party union { Customer = 1 | Person = 4 | Department = 7 | str = 9 | u8 = 200 }
type Department enum { SALES SUPPORT }
type Prims union { u8 | u16 | u32 | u64 | uint | i8 | i16 | i32 | i64 | int | f32 | f64 | bool | str | data | data[3] | void }
type Nested union { list<str> | list<u8>[3] | map<str><data> | optional<Customer> | struct { a: u8 } | enum { X Y } | union { Customer | u8 } }
type Names list<str>
type Aliased union { Names | MaybeName | NumberMap | Digest }
type MaybeName optional<str>
type NumberMap map<u32><f64>
type Digest data[32]
type Same union { Customer | SameCustomer }
type SameCustomer Customer
type Voids union { void | Terminated }
type Holder struct { p: Person q: Party r: Prims s: Nested t: optional<Aliased> u: list<Same> v: map<str><Voids> w: optional<Person> }
`,
	"anonymous": `
type Customer struct {
  name: str
  address: struct { street: list<str>[4] city: str country: enum { DE AT CH } }
  orders: list<struct { id: uint item: optional<struct { sku: str n: u32 }> }>
  contact: optional<struct { mail: str }>
  tags: map<str><struct { weight: f32 path: list<union { str | struct { n: u8 } }> }>
  state: union { struct { since: i64 } | enum { GONE BACK } | void }
}
type Items list<struct { a: u8 }>
type MaybeThing optional<struct { a: str b: str }>
type Table map<enum { RED GREEN }><union { u8 | str }>
type CustomerAddress str
type Fixed list<struct { x: f32 y: f32 }>[4]
`,
	"optionals": `
type MaybeU8 optional<u8>
type MaybeBig optional<Big>
type Big struct { a: data[64] b: str }
type MaybeMaybe optional<optional<u8>>
type MaybeMaybeBig optional<optional<Big>>
type AliasOfOptional MaybeU8
type AliasOfBig MaybeBig
type MaybeList optional<list<optional<str>>>
type All struct {
  a: optional<u8> b: optional<Big> c: optional<optional<u8>> d: optional<optional<Big>> e: MaybeU8 f: MaybeBig
  g: AliasOfOptional h: AliasOfBig i: optional<MaybeBig> j: optional<MaybeU8> l: MaybeList
  m: optional<list<optional<Big>>> n: optional<map<str><optional<Big>>> o: optional<data> p: optional<data[40]>
  q: optional<list<u64>[4]> r: optional<list<Big>[2]> s: list<MaybeBig> t: map<u8><MaybeMaybeBig> u: optional<f32>
}
`,
	"maps": `
type Color enum { RED GREEN }
type Digest data[16]
type Blob data
type Name str
type Keys struct {
  a: map<u8><str> b: map<u16><str> c: map<u32><u8> d: map<u64><u8> e: map<uint><f32> f: map<i8><f64> g: map<i16><bool>
  h: map<i32><data> i: map<i64><list<u8>> j: map<int><Color> k: map<bool><str> l: map<str><map<str><map<str><data>>>
  m: map<data><str> n: map<data[4]><str> o: map<Color><u8> p: map<Digest><u8> q: map<Blob><u8> r: map<Name><Name>
}
type Dict map<str><Dict2>
type Dict2 map<data><list<f32>>
`,
	"lists": `
type Lists struct {
  a: list<u8> b: list<f32> c: list<f64> d: list<bool> e: list<str> f: list<data> g: list<list<list<list<u8>>>>
  i: list<list<f32>[3]>[2] j: list<data[5]> k: list<list<str>[2]> l: list<map<str><u8>> m: list<int> n: list<uint>[4]
  o: list<list<f64>> p: list<optional<u8>>[3] q: list<i32> r: data[7] s: data
}
type Floats list<f32>
type FixedFloats list<f64>[3]
type Matrix list<Floats>
type Numbers list<Number>
type Number f64
type Uses struct { a: Floats b: FixedFloats c: Matrix d: Numbers e: Number f: list<FixedFloats>[2] }
`,
	"aliases": `
type S struct { a: str b: list<u8> }
type S2 S
type S3 S2
type U union { S | S2 | S3 | U2 | E2 }
type U2 union { str | S }
type U3 U2
type E enum { A B }
type E2 E
type L list<S2>
type L2 L
type F f32
type F2 F
type V void
type V2 V
type D data
type D2 D
type Fx struct { a: u32 b: u32 }
type Fx2 Fx
type All struct { a: S2 b: S3 c: U3 d: E2 e: L2 f: F2 h: D2 i: Fx2 j: optional<S3> k: map<str><U3> l: list<E2> m: optional<E2> n: L o: list<U3>[2] }
`,
	"fixed": `
type Point struct { x: f32 y: f32 }
#@align(64)
type Line struct {
  a: Point b: Point seq: u64 kind: u8
  #@pad
  pad0: data[39]
}
type Block struct { keys: list<f32>[8192] lines: list<Line>[4] }
type Flags struct { a: bool b: bool e: enum { X Y } o: list<bool>[3] }
type Padded struct {
  #@pad
  p0: data[8]
  a: u64
  #@pad
  p1: data[8]
}
type OnlyPad struct {
  #@pad
  p: data[8]
}
type SameSize union { u32 | f32 | i32 }
type HasUnion struct { a: SameSize b: u8 }
`,
	"bounded": `
#@max(32)
type Name str
type Bounded struct {
  name: Name
  #@max(4)
  tags: list<Name>
  #@max(16)
  blob: data
  #@max(3)
  props: map<Name><u16>
  opt: optional<Name>
}
`,
	"olddialect": `
type PublicKey data<128>
type Time string
enum Department {
  ACCOUNTING
  ADMINISTRATION
  CUSTOMER_SERVICE
  JSMITH = 99
}
enum Level u16 { LOW = 1 HIGH = 300 }
type Customer {
  name: string
  email: string
  orders: []{ orderId: i64 quantity: i32 }
  metadata: map[string]data
  level: Level
  fixed: [4]u8
}
type Person (Customer | Time)
`,
	"documented": `
# The file's own words.
# +build ignore

# A customer.
#
#   indented
# - a list
type Customer struct {
  # Its name.
  name: str
  # */ and more /*
  # go:generate rm
  other: str
}
# Kinds.
type Kind enum {
  # The first.
  A
  # The second.
  B
}
`,
	"initialisms": `
type Ids struct { user_id: u8 user_ids: list<u8> http_url: str json_api: str id: str sha256: data[32] utf8_text: str x_1: u8 x1y: u8 }
type HttpUrl str
`,
	"annotated": `
#@go(name=Renamed)
type Old struct {
  #@go(name=Kept)
  gone: u8
  e: enum { A B }
}
type E enum {
  #@go(name=Chosen)
  A
  B
}
type Uses struct { o: Old e: E }
`,
	"regions": `
#@residency(cpu)
type N u32
#@residency(cpu)
#@register(remote_read, remote_atomic)
type F f64
#@register(local)
type B bool
#@residency(gpu)
type S enum { A B = 300 }
#@residency(cpu, numa, cxl, fallback=unified)
type D data[7]
#@residency(unified)
#@max(3)
type L list<Str_>
#@max(3)
type Str_ str
#@residency(cpu)
type U union { u8 | i8 }
#@residency(cpu)
#@max(2)
type M map<u8><u8>
#@residency(cpu)
type O optional<u8>
#@residency(cpu)
type E list<struct { x: u8 y: bool }>[3]
#@register(remote_write)
type AE E
#@register(remote_read)
type Type struct {
  #@atomic(sequence)
  i: u64
  w: i32
  g: u32
  barewire: u8
  wire: bool
  unsafe: u8
  view: u8
  err: E
  #@pad
  p: data[6]
}
#@register(remote_read, remote_write, remote_atomic)
type AType Type
type TypeView u8
type TypeInCPU_ u8
type TypeInCPU enum { X }
type Refs struct {
  #@ref(AType, remote_read, remote_atomic)
  ref: data[48]
  #@ref(AE, remote_write)
  set: data[48]
  ref_ref: u8
  s: str
}
type ARefs Refs
`,
}
