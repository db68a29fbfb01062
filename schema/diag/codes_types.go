package diag

// Types: the rules of BARE that every draft has.
const (
	DuplicateType      Code = "BW1101"
	UndefinedType      Code = "BW1102"
	RecursiveType      Code = "BW1103"
	DuplicateField     Code = "BW1104"
	DuplicateValueName Code = "BW1105"
	DuplicateValue     Code = "BW1106"
	DuplicateMember    Code = "BW1107"
	DuplicateTag       Code = "BW1108"
	NumberOverflow     Code = "BW1109"
	MisplacedVoid      Code = "BW1110"
	EmptyEnum          Code = "BW1111"
	EmptyUnion         Code = "BW1112"
	EmptyStruct        Code = "BW1113"
	ZeroLength         Code = "BW1114"
	BadMapKey          Code = "BW1115"
	EnumTooWide        Code = "BW1116"
)

var _ = register(
	Rule{
		Code: DuplicateType, Name: "duplicate-type", Severity: Error,
		Title: "two types have one name",
		Why: "A name stands for one type in all the files that are given together and have the same #@package. " +
			"Rename one, or give the files different packages.",
		Wrong: "type Point u8\ntype Point u16\n",
		Right: "type Point u8\ntype Point16 u16\n",
	},
	Rule{
		Code: UndefinedType, Name: "undefined-type", Severity: Error,
		Title: "a type is used that nothing declares",
		Why: "BARE has no imports. A name is looked up in the files that are given together and have the same #@package; " +
			"order does not matter. Give the file that declares it to the same command.",
		Wrong: "type Line list<Ponit>\ntype Point struct { x: u8 }\n",
		Right: "type Line list<Point>\ntype Point struct { x: u8 }\n",
	},
	Rule{
		Code: RecursiveType, Name: "recursive-type", Severity: Error,
		Title: "a type contains itself",
		Why: "BARE forbids recursion by any route, through optionals, lists, maps and unions too: whoever decodes such a message " +
			"needs as much stack as the sender likes. Keep the items in one list and let them refer to each other by index.",
		Wrong: "type Node struct {\n  value: str\n  next:  optional<Node>\n}\n",
		Right: "type Node struct {\n  value: str\n  next:  optional<u32>\n}\ntype Chain list<Node>\n",
	},
	Rule{
		Code: DuplicateField, Name: "duplicate-field", Severity: Error,
		Title: "two fields of a struct have one name",
		Why:   "Fields are told apart by their names in every language that reads the schema.",
		Wrong: "type Point struct { x: u8 x: u8 }\n",
		Right: "type Point struct { x: u8 y: u8 }\n",
	},
	Rule{
		Code: DuplicateValueName, Name: "duplicate-value-name", Severity: Error,
		Title: "two values of an enum have one name",
		Why:   "The values of an enum are told apart by their names.",
		Wrong: "type Light enum { RED GREEN RED }\n",
		Right: "type Light enum { RED GREEN AMBER }\n",
	},
	Rule{
		Code: DuplicateValue, Name: "duplicate-value", Severity: Error,
		Title: "two values of an enum have one number",
		Why: "Only the number is on the wire, so the two could not be told apart. A value without a number has that of the value " +
			"before it and one more, which can meet a number that is written.",
		Wrong: "type Light enum { RED = 1 GREEN = 0 AMBER }\n",
		Right: "type Light enum { RED = 1 GREEN = 2 AMBER }\n",
	},
	Rule{
		Code: DuplicateMember, Name: "duplicate-member", Severity: Error,
		Title: "a union has one type twice",
		Why: "The members of a union are told apart by their types. A user type is distinct from the type that it names, " +
			"so two names for one type can both be members.",
		Wrong: "type Amount union { u32 | u32 }\n",
		Right: "type Euro u32\ntype Dollar u32\ntype Amount union { Euro | Dollar }\n",
	},
	Rule{
		Code: DuplicateTag, Name: "duplicate-tag", Severity: Error,
		Title: "two members of a union have one tag",
		Why: "The tag is what the wire has to tell the members apart. A member without a tag has that of the member before it and " +
			"one more, which can meet a tag that is written.",
		Wrong: "type Id union { u32 = 1 | str = 0 | data }\n",
		Right: "type Id union { u32 = 0 | str = 1 | data }\n",
	},
	Rule{
		Code: NumberOverflow, Name: "number-overflow", Severity: Error,
		Title: "a number would be beyond 64 bits",
		Why:   "Values and tags have at most 64 bits, and the one before already has the greatest.",
		Wrong: "type E enum { LAST = 18446744073709551615 NEXT }\n",
		Right: "type E enum { NEXT = 18446744073709551614 LAST = 18446744073709551615 }\n",
	},
	Rule{
		Code: MisplacedVoid, Name: "misplaced-void", Severity: Error,
		Title: "void stands where a value must be",
		Why: "void has no bytes on the wire. It may be a member of a union, or a type of its own that is one; as a field, " +
			"element, key or optional it would say nothing.",
		Wrong: "type Reply struct { done: void }\n",
		Right: "type Done void\ntype Reply union { Done | str }\n",
	},
	Rule{
		Code: EmptyEnum, Name: "empty-enum", Severity: Error,
		Title: "an enum has no value",
		Why:   "Nothing could be encoded as it.",
		Wrong: "type Light enum { }\n",
		Right: "type Light enum { RED }\n",
	},
	Rule{
		Code: EmptyUnion, Name: "empty-union", Severity: Error,
		Title: "a union has no member",
		Why:   "Nothing could be encoded as it.",
		Wrong: "type Id union { }\n",
		Right: "type Id union { u32 }\n",
	},
	Rule{
		Code: EmptyStruct, Name: "empty-struct", Severity: Error,
		Title: "a struct has no field",
		Why:   "BARE's type without content is void, which may be a member of a union.",
		Wrong: "type Ping struct { }\n",
		Right: "type Ping void\n",
	},
	Rule{
		Code: ZeroLength, Name: "zero-length", Severity: Error,
		Title: "a fixed length is zero",
		Why:   "data[n] and list<T>[n] have at least one element: otherwise they would have no bytes on the wire.",
		Wrong: "type Key data[0]\n",
		Right: "type Key data[16]\n",
	},
	Rule{
		Code: BadMapKey, Name: "bad-map-key", Severity: Error,
		Title: "a type cannot be a map's key",
		Why: "A key is a whole number, bool, str, data or an enum, through any number of names. Floats are no keys, since NaN " +
			"equals nothing, and types made of others are none. data is one from draft 13 on.",
		Wrong: "type Prices map<f64><str>\n",
		Right: "type Prices map<u64><str>\n",
	},
	Rule{
		Code: EnumTooWide, Name: "enum-too-wide", Severity: Error,
		Title: "a value does not fit in the enum's size",
		Why: "enum X u8 is the old dialect's way to give an enum a fixed size on the wire. Every value must fit in it. " +
			"Without a size an enum is a uint, and has room for 64 bits.",
		Wrong: "enum Level u8 { LOW = 1 HIGH = 300 }\n",
		Right: "enum Level u16 { LOW = 1 HIGH = 300 }\n",
	},
)
