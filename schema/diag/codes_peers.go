package diag

// Peers: what we accept and another compiler, or a draft of BARE, refuses. With
// --spec, what that draft refuses is an error; without, all of these only inform.
const (
	ForwardReference Code = "BW1201"
	OldSpelling      Code = "BW1202"
	FixedEnum        Code = "BW1203"
	FieldSpelling    Code = "BW1204"
	FieldCapital     Code = "BW1205"
	NotAscending     Code = "BW1206"
	ValueSpelling    Code = "BW1207"
	TypeSpelling     Code = "BW1208"
	DataKey          Code = "BW1209"
	LargeNumber      Code = "BW1210"
	ByteOrderMark    Code = "BW1211"
)

var _ = register(
	Rule{
		Code: ForwardReference, Name: "forward-reference", Severity: Info,
		Title: "a type is used above its declaration",
		Why: "Every draft wants a type declared before it is used, and bare-ts and vbare refuse the file otherwise. " +
			"barewire-gen and go-bare take the declarations in any order.",
		Wrong: "type Line list<Point>\ntype Point struct { x: u8 }\n",
		Right: "type Point struct { x: u8 }\ntype Line list<Point>\n",
	},
	Rule{
		Code: OldSpelling, Name: "old-spelling", Severity: Info,
		Title: "the file uses the spelling of drafts before 03",
		Why: "`[]T`, `map[K]V`, `(A | B)`, `string`, `data<n>`, `type X {` and `enum X {` are how go-bare and the first drafts write " +
			"types. The bytes on the wire are the same. Compilers of later drafts refuse them, and go-bare refuses the new ones; " +
			"`barewire-gen fmt` writes the new spelling, so no fix is offered here.",
		Wrong: "type Names []string\n",
		Right: "type Names list<str>\n",
	},
	Rule{
		Code: FixedEnum, Name: "fixed-enum", Severity: Info,
		Title: "the enum has a fixed size on the wire, which the new syntax cannot say",
		Why: "enum X u16 is two bytes in go-bare's dialect; every enum of the new syntax is a uint of varying size. So fmt leaves it as " +
			"it is, and compilers of later drafts cannot read the file. A u8 enum whose values are all below 128 has the same " +
			"byte either way: the fix takes u8 away there, which changes the type's hash and nothing else.",
		Wrong: "enum Level u8 { LOW HIGH }\n",
		Right: "type Level enum { LOW HIGH }\n",
	},
	Rule{
		Code: FieldSpelling, Name: "field-spelling", Severity: Info,
		Title: "the field's name is not spelled as drafts before 14 want",
		Why: "Up to draft 13 a field's name has letters only: camelCase. Draft 14 allows snake_case and mixtures, and bare-ts, which follows it, digits. " +
			"Before 0.18 it refuses _, too. Names are not on the wire, but in a type's hash and in programs of others, so no fix is offered.",
		Wrong: "type User struct { user_id: u32 }\n",
		Right: "type User struct { userId: u32 }\n",
	},
	Rule{
		Code: FieldCapital, Name: "field-capital", Severity: Info,
		Title: "the field's name starts with a capital letter",
		Why:   "The drafts allow it; bare-ts refuses it. A name is in a type's hash and in programs of others, so no fix is offered.",
		Wrong: "type User struct { Name: str }\n",
		Right: "type User struct { name: str }\n",
	},
	Rule{
		Code: NotAscending, Name: "not-ascending", Severity: Info,
		Title: "values or tags do not ascend",
		Why: "From draft 12 on, the values of an enum and the tags of a union stand in ascending order. " +
			"The order in the file is not on the wire. It is in a type's hash, so that the fix, which puts them in order, changes the hash and nothing else.",
		Wrong: "type Light enum { RED = 1 GREEN = 0 }\n",
		Right: "type Light enum { GREEN = 0 RED = 1 }\n",
	},
	Rule{
		Code: ValueSpelling, Name: "value-spelling", Severity: Info,
		Title: "the enum value's name is not in CONSTANT_CASE",
		Why: "Every draft wants capital letters, digits and _, and bare-ts refuses others. " +
			"Names are not on the wire, but in a type's hash and in programs, so no fix is offered.",
		Wrong: "type Light enum { Red Green }\n",
		Right: "type Light enum { RED GREEN }\n",
	},
	Rule{
		Code: TypeSpelling, Name: "type-spelling", Severity: Info,
		Title: "the type's name has a _",
		Why:   "Every draft wants letters and digits, and bare-ts refuses others. Names are not on the wire, but in a type's hash and in programs, so no fix is offered.",
		Wrong: "type User_id u32\n",
		Right: "type UserId u32\n",
	},
	Rule{
		Code: DataKey, Name: "data-key", Severity: Info,
		Title: "data is a map's key",
		Why:   "Drafts before 13 do not allow it, nor do compilers that follow them. Another key is another wire, and which one would do is not in the schema: no fix is offered.",
		Wrong: "type Blobs map<data[16]><str>\n",
		Right: "type Blobs map<str><str>\n",
	},
	Rule{
		Code: LargeNumber, Name: "large-number", Severity: Info,
		Title: "a number is larger than some compilers take",
		Why: "bare-ts takes values and tags up to 9007199254740991, since JavaScript has no greater whole numbers, and lengths up to 4294967295. " +
			"go-bare silently makes 4294967295 of any greater number. Another number is another wire: no fix is offered.",
		Wrong: "type E enum { LAST = 9007199254740992 }\n",
		Right: "type E enum { LAST = 255 }\n",
	},
	Rule{
		Code: ByteOrderMark, Name: "byte-order-mark", Severity: Info,
		Title: "the file starts with a byte order mark",
		Why:   "No draft knows it, and go-bare refuses the file. UTF-8 needs none.",
		Wrong: "\ufefftype Age u8\n",
		Right: "type Age u8\n",
	},
)
