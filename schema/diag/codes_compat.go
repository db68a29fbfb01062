package diag

// Compatibility: what changed between two versions of a schema. The severity in the
// registry is the usual one: a change that only lets old readers refuse some new
// messages is a warning.
const (
	TypeRemoved      Code = "BW4001"
	TypeRenamed      Code = "BW4002"
	PackageChanged   Code = "BW4003"
	GoNameMoved      Code = "BW4004"
	FieldAdded       Code = "BW4011"
	FieldRemoved     Code = "BW4012"
	FieldRenamed     Code = "BW4013"
	FieldMoved       Code = "BW4014"
	PaddingChanged   Code = "BW4015"
	TypeChanged      Code = "BW4021"
	LengthChanged    Code = "BW4022"
	LimitChanged     Code = "BW4023"
	ClassChanged     Code = "BW4024"
	ValueAdded       Code = "BW4031"
	ValueRemoved     Code = "BW4032"
	ValueRenamed     Code = "BW4033"
	ValueRenumbered  Code = "BW4034"
	MemberAdded      Code = "BW4041"
	MemberRemoved    Code = "BW4042"
	MemberRetagged   Code = "BW4043"
	MemberReplaced   Code = "BW4044"
	LayoutChanged    Code = "BW4051"
	HashChanged      Code = "BW4052"
	PlaceRemoved     Code = "BW4053"
	RightRemoved     Code = "BW4054"
	RightAdded       Code = "BW4055"
	AlignLowered     Code = "BW4056"
	AtomicChanged    Code = "BW4057"
	CachelineChanged Code = "BW4058"
	RefChanged       Code = "BW4059"
)

var _ = register(
	Rule{
		Code: TypeRemoved, Name: "type-removed", Severity: Error,
		Title: "a type of the old version is gone",
		Why: "Programs that name its Go type do not compile. If it was a message of its own, and no part of another, nothing reads its " +
			"messages any more. Keep a type until no program and no stored message needs it.",
		Wrong: "# v1: type Ping struct { id: u32 }\ntype Pong struct { id: u32 }\n",
		Right: "type Ping struct { id: u32 }\ntype Pong struct { id: u32 }\n",
	},
	Rule{
		Code: TypeRenamed, Name: "type-renamed", Severity: Error,
		Title: "a type has another name",
		Why: "Names of types are not on the wire, so messages are the same. In Go the name is the type's: programs must be changed. " +
			"#@go(name=…) keeps the name in Go. Names are in a type's hash, so peers of the two versions refuse each other's references to memory.",
		Wrong: "# v1: type Point struct { x: f32 }\ntype Spot struct { x: f32 }\n",
		Right: "#@go(name=Point)\ntype Spot struct { x: f32 }\n",
	},
	Rule{
		Code: PackageChanged, Name: "package-changed", Severity: Error,
		Title: "the schema belongs to another Go package",
		Why:   "Programs import the generated package by its path and use it by its name. Neither is on the wire.",
		Wrong: "# v1: #@package(telemetry)\n#@package(metrics)\n",
		Right: "#@package(telemetry)\n",
	},
	Rule{
		Code: GoNameMoved, Name: "go-name-moved", Severity: Error,
		Title: "something has another name in Go",
		Why:   "#@go(name=…) was changed, added or removed, so programs that use the name do not compile. The wire is the same.",
		Wrong: "# v1: #@go(name=Temp)\ntype T struct { celsius: f32 }\n",
		Right: "#@go(name=Temp)\ntype T struct { celsius: f32 }\n",
	},
	Rule{
		Code: FieldAdded, Name: "field-added", Severity: Error,
		Title: "a struct has a new field",
		Why: "A struct on the wire is its fields, one after another, with no names, no numbers and no length. A reader that knows one field more " +
			"takes the bytes of whatever follows for it; one that knows one less takes the new field for what follows. There are no optional " +
			"fields that old readers skip: that is what unions are for. Declare the struct anew under another name and append it to the union of messages.\n\n" +
			"A field that takes its bytes from #@pad padding moves nothing: old readers do not look at them, and old writers write zeros.",
		Wrong: "# v1: type Stop struct { code: u8 }\ntype Stop struct { code: u8 reason: str }\ntype Command union { Stop }\n",
		Right: "type Stop struct { code: u8 }\ntype Stop2 struct { code: u8 reason: str }\ntype Command union { Stop | Stop2 }\n",
	},
	Rule{
		Code: FieldRemoved, Name: "field-removed", Severity: Error,
		Title: "a field of a struct is gone",
		Why: "All that stood behind it lies elsewhere now, so neither version reads the other's messages. A field of fixed size can become " +
			"padding: its bytes stay, and Go does not have it any more.",
		Wrong: "# v1: type Stop struct { code: u32 id: u64 }\ntype Stop struct { id: u64 }\n",
		Right: "type Stop struct {\n  #@pad\n  code: data[4]\n  id: u64\n}\n",
	},
	Rule{
		Code: FieldRenamed, Name: "field-renamed", Severity: Error,
		Title: "a field has another name",
		Why:   "Names of fields are not on the wire. In Go the field is called by it, so programs must be changed; #@go(name=…) keeps the name.",
		Wrong: "# v1: type T struct { celsius: f32 }\ntype T struct { degrees: f32 }\n",
		Right: "type T struct {\n  #@go(name=Celsius)\n  degrees: f32\n}\n",
	},
	Rule{
		Code: FieldMoved, Name: "field-moved", Severity: Error,
		Title: "the fields of a struct stand in another order",
		Why: "The order in the schema is the order of the bytes. Where the fields that changed places are of one type, messages of the other version decode " +
			"without an error, and into the wrong fields.",
		Wrong: "# v1: type Point struct { x: f32 y: f32 }\ntype Point struct { y: f32 x: f32 }\n",
		Right: "type Point struct { x: f32 y: f32 }\n",
	},
	Rule{
		Code: PaddingChanged, Name: "padding-changed", Severity: Error,
		Title: "a struct has more or less padding",
		Why: "Padding is bytes on the wire like others: what stands behind it lies elsewhere now. Padding that a field took over, or that a field became, " +
			"is another matter and no finding.",
		Wrong: "# v1: type T struct { a: u32 b: u64 }\ntype T struct {\n  a: u32\n  #@pad\n  pad0: data[4]\n  b: u64\n}\n",
		Right: "type T struct { a: u32 b: u64 }\n",
	},
	Rule{
		Code: TypeChanged, Name: "type-changed", Severity: Error,
		Title: "what stands at a place has another type",
		Why: "Some types read each other's bytes: a list and an optional, a str and data, a bool and a u8, an optional and a union of void and the same type. Then the finding says " +
			"which direction refuses what. Most do not: a u32 is not a u64, and a uint is neither. Where the types differ in Go, programs must be changed.",
		Wrong: "# v1: type T struct { size: u32 }\ntype T struct { size: u64 }\n",
		Right: "type T struct { size: u32 }\ntype T2 struct { size: u64 }\ntype Any union { T | T2 }\n",
	},
	Rule{
		Code: LengthChanged, Name: "length-changed", Severity: Error,
		Title: "data[n] or list<T>[n] has another length",
		Why:   "The length is not on the wire: a reader takes as many items as its own schema says, and the rest is taken for what follows.",
		Wrong: "# v1: type Hash data[16]\ntype Hash data[32]\n",
		Right: "type Hash data[16]\ntype Hash2 data[32]\n",
	},
	Rule{
		Code: LimitChanged, Name: "limit-changed", Severity: Error,
		Title: "#@max is another",
		Why: "A reader refuses what is longer than its limit. A lower limit refuses old messages; a higher one lets new writers write what old readers refuse. " +
			"In regions the limit gives the slot's size.",
		Wrong: "# v1: #@max(64)\n#@max(32)\ntype Name str\n",
		Right: "#@max(64)\ntype Name str\n",
	},
	Rule{
		Code: ClassChanged, Name: "class-changed", Severity: Error,
		Title: "generated code offers less for a type, since its bytes are of another class",
		Why: "What is castable can be used in place as a Go struct, what is fixed has a size that is a constant and views without an index, what is bounded has slots. " +
			"When a type loses its class, the functions for it go, and programs that call them do not compile. `barewire-gen layout` says why a type has its class.",
		Wrong: "# v1: type T struct { a: u64 b: u64 }\ntype T struct { a: u64 b: str }\n",
		Right: "type T struct { a: u64 b: u64 }\n",
	},
	Rule{
		Code: ValueAdded, Name: "value-added", Severity: Warning,
		Title: "an enum has a new value",
		Why: "Old messages read as they did. An old reader refuses a message with the new value, as BARE wants. So readers are brought up to date first, " +
			"and writers use the value when all have it.",
		Wrong: "# v1: type Light enum { RED GREEN }\ntype Light enum { RED GREEN BLUE }\n",
		Right: "type Light enum { RED GREEN }\n",
	},
	Rule{
		Code: ValueRemoved, Name: "value-removed", Severity: Error,
		Title: "a value of an enum is gone",
		Why:   "Old messages that have it are refused, and programs that name its constant do not compile.",
		Wrong: "# v1: type Light enum { RED GREEN BLUE }\ntype Light enum { RED GREEN }\n",
		Right: "type Light enum { RED GREEN BLUE }\n",
	},
	Rule{
		Code: ValueRenamed, Name: "value-renamed", Severity: Error,
		Title: "a value of an enum has another name",
		Why:   "The number is on the wire, not the name. In Go the constant is called by it, and its text form is the name.",
		Wrong: "# v1: type Light enum { RED GREEN }\ntype Light enum { RED LIME }\n",
		Right: "type Light enum {\n  RED\n  #@go(name=Green)\n  LIME\n}\n",
	},
	Rule{
		Code: ValueRenumbered, Name: "value-renumbered", Severity: Error,
		Title: "a value of an enum has another number",
		Why: "The number is all that is on the wire, so each version takes the other's value for something else, or refuses it. It happens where a value is " +
			"put in or taken out before others without numbers of their own: put new values at the end, or pin the next number.",
		Wrong: "# v1: type Light enum { RED GREEN }\ntype Light enum { AMBER RED GREEN }\n",
		Right: "type Light enum { RED GREEN AMBER }\n",
	},
	Rule{
		Code: MemberAdded, Name: "member-added", Severity: Warning,
		Title: "a union has a new member",
		Why: "This is how BARE's messages grow. Old messages read as they did; an old reader refuses a message with the new member. So readers are brought " +
			"up to date first, and writers use the member when all have it. A Go program's type switch over the union may have to learn it.",
		Wrong: "# v1: type Command union { Start | Stop }\ntype Start void\ntype Stop void\ntype Pause void\ntype Command union { Start | Stop | Pause }\n",
		Right: "type Start void\ntype Stop void\ntype Command union { Start | Stop }\n",
	},
	Rule{
		Code: MemberRemoved, Name: "member-removed", Severity: Error,
		Title: "a member of a union is gone",
		Why: "Old messages that have it are refused, and programs that name its Go type in the union do not compile. When it may go at last, pin the tag of the next " +
			"one, and never give the free tag to another.",
		Wrong: "# v1: type Command union { Start | Stop | Pause }\ntype Start void\ntype Stop void\ntype Pause void\ntype Command union { Start | Pause }\n",
		Right: "type Start void\ntype Stop void\ntype Pause void\ntype Command union { Start | Stop | Pause }\n",
	},
	Rule{
		Code: MemberRetagged, Name: "member-retagged", Severity: Error,
		Title: "a member of a union has another tag",
		Why: "The tag is all that says which member follows, so each version takes it for another one. It happens where a member is put in or taken out before others without tags of " +
			"their own: append new ones, and where one goes write the next one's old tag (`Pause = 2`).",
		Wrong: "# v1: type Command union { Start | Stop | Pause }\ntype Start void\ntype Stop void\ntype Pause void\ntype Command union { Start | Pause }\n",
		Right: "type Start void\ntype Stop void\ntype Pause void\ntype Command union { Start | Pause = 2 }\n",
	},
	Rule{
		Code: MemberReplaced, Name: "member-replaced", Severity: Error,
		Title: "a tag of a union stands for another type",
		Why:   "Messages with the tag are read as the other type, and decode into nonsense where the bytes happen to fit. Give the new type a tag of its own.",
		Wrong: "# v1: type Command union { Start | Stop }\ntype Start struct { at: u64 }\ntype Halt struct { code: u8 }\ntype Command union { Start | Halt }\n",
		Right: "type Start struct { at: u64 }\ntype Stop void\ntype Halt struct { code: u8 }\ntype Command union { Start | Stop | Halt }\n",
	},
	Rule{
		Code: LayoutChanged, Name: "layout-changed", Severity: Error,
		Title: "elements of a region lie otherwise in memory, or must start elsewhere",
		Why: "A peer of the other version that maps the memory, or reads and writes it by RDMA, has other offsets, another kind of number at an offset, or another size of an element; " +
			"or it puts elements where the other version cannot use them, since a field was made atomic or got a line to itself. It finds out before: " +
			"references carry the type's hash, and Import refuses one of another schema.",
		Wrong: "# v1: type T struct { a: u32 b: u32 }\n#@register(remote_read)\ntype T struct { a: u64 b: u32 }\n",
		Right: "#@register(remote_read)\ntype T struct { a: u32 b: u32 }\n#@register(remote_read)\ntype T2 struct { a: u64 b: u32 }\n",
	},
	Rule{
		Code: HashChanged, Name: "hash-changed", Severity: Error,
		Title: "a type for regions has another hash, though its elements lie as they did",
		Why: "The hash is over names, numbers, limits and structure of a type and all that it refers to, so that peers are sure to mean the same. A renamed field or a new value of " +
			"an enum changes it, and peers of the two versions refuse each other's references. Offer regions of both types, or bring both sides up to date at once.",
		Wrong: "# v1: type T struct { a: u64 }\n#@register(remote_read)\ntype T struct { renamed: u64 }\n",
		Right: "#@register(remote_read)\ntype T struct { a: u64 }\n",
	},
	Rule{
		Code: PlaceRemoved, Name: "place-removed", Severity: Error,
		Title: "regions of a type may not live somewhere any more",
		Why:   "The function for that place is gone from the generated code, so programs that allocate there do not compile.",
		Wrong: "# v1: #@residency(cpu, cxl)\n#@residency(cpu)\ntype T struct { a: u64 }\n",
		Right: "#@residency(cpu, cxl)\ntype T struct { a: u64 }\n",
	},
	Rule{
		Code: RightRemoved, Name: "right-removed", Severity: Error,
		Title: "regions of a type may not grant a right any more",
		Why: "The grants with that right are gone from the generated code, so programs that register with them do not compile, and a peer of the old version that " +
			"imports with the right is refused.",
		Wrong: "# v1: #@register(remote_read, remote_write)\n#@register(remote_read)\ntype T struct { a: u64 }\n",
		Right: "#@register(remote_read, remote_write)\ntype T struct { a: u64 }\n",
	},
	Rule{
		Code: RightAdded, Name: "right-added", Severity: Warning,
		Title: "regions of a type may grant a right that they might not before",
		Why: "Nothing breaks, and somebody should look: peers may now be granted more. Memory that a peer may write is not a Go slice any more, and what is read " +
			"from it may change meanwhile.",
		Wrong: "# v1: #@register(remote_read)\n#@register(remote_read, remote_write)\ntype T struct { a: u64 }\n",
		Right: "#@register(remote_read)\ntype T struct { a: u64 }\n",
	},
	Rule{
		Code: AlignLowered, Name: "align-lowered", Severity: Error,
		Title: "regions of a type may start at more places than before",
		Why:   "#@align was lowered or removed. Who reached regions of the old version, with vector instructions or direct input and output, could count on the multiple.",
		Wrong: "# v1: #@align(64)\n#@align(8)\n#@residency(cpu)\ntype T struct { a: list<u64>[8] }\n",
		Right: "#@align(64)\n#@residency(cpu)\ntype T struct { a: list<u64>[8] }\n",
	},
	Rule{
		Code: AtomicChanged, Name: "atomic-changed", Severity: Error,
		Title: "a field is atomic and was not, or the reverse",
		Why: "All who change a word in shared memory must do it in one way. It is part of a type's hash, so peers of the two versions refuse each other's references. Where the " +
			"annotation went, the atomic accessors went from the generated code.",
		Wrong: "# v1: hits without #@atomic\n#@register(remote_atomic)\ntype T struct {\n  #@atomic\n  hits: u64\n}\n",
		Right: "#@register(remote_read)\ntype T struct { hits: u64 }\n",
	},
	Rule{
		Code: CachelineChanged, Name: "cacheline-changed", Severity: Error,
		Title: "a field has its cache line to itself and had not, or the reverse",
		Why:   "It is a promise about neighbours and part of a type's hash, so peers of the two versions refuse each other's references. The wire is the same.",
		Wrong: "# v1: seq without #@cacheline\ntype T struct {\n  #@cacheline\n  seq: u64\n  #@pad\n  pad0: data[56]\n}\n",
		Right: "type T struct {\n  seq: u64\n  #@pad\n  pad0: data[56]\n}\n",
	},
	Rule{
		Code: RefChanged, Name: "ref-changed", Severity: Error,
		Title: "a reference is to another type, or carries other rights",
		Why: "Who reads the field gets a reference that its own schema does not mean: it is refused when it is used, or it may do less than was expected. In Go the type of the " +
			"reference is another.",
		Wrong: "# v1: #@ref(Block, remote_read)\n#@register(remote_read, remote_write)\ntype Block struct { a: u64 }\ntype Lease struct {\n  #@ref(Block, remote_read, remote_write)\n  block: data[48]\n}\n",
		Right: "#@register(remote_read, remote_write)\ntype Block struct { a: u64 }\ntype Lease struct {\n  #@ref(Block, remote_read)\n  block: data[48]\n}\n",
	},
)
