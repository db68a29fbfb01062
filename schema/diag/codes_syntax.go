package diag

// Syntax: what the parser reports. Each says what was expected and how to write it.
const (
	Unreadable        Code = "BW1001" // not a text file, not UTF-8, or too large
	BadCharacter      Code = "BW1002" // a character that the language does not have
	Unexpected        Code = "BW1003" // a token that cannot stand here
	Unclosed          Code = "BW1004" // a bracket without its partner
	MissingType       Code = "BW1005" // no type where one must stand
	BadDeclaration    Code = "BW1006" // something else than type or enum at the top level
	BadSeparator      Code = "BW1007" // , or ; where white space or | separates
	MissingColon      Code = "BW1008" // field without its colon
	BadTypeForm       Code = "BW1009" // optional u8, list[T], T?, T[]
	UnknownBuiltin    Code = "BW1010" // a lower-case word that is no built-in type
	LowerCaseTypeName Code = "BW1011" // type point struct
	IntegerTooLarge   Code = "BW1012" // more than 64 bits
	BadInteger        Code = "BW1013" // 0x10, 1_000, -1
	NestedTooDeep     Code = "BW1014" // more levels than the compiler follows
	EmptySchema       Code = "BW1015" // a file without a declaration
	ForeignComment    Code = "BW1016" // // or /* */
	BareAnnotation    Code = "BW1017" // @name outside a comment
	BadAnnotation     Code = "BW1018" // #@ that does not follow its grammar
	MissingName       Code = "BW1019" // no name where one must stand
	BadEnumBase       Code = "BW1020" // enum X i8 {, type X enum u8 {
	TooManyErrors     Code = "BW1021" // the compiler gave up
	TooManyTypes      Code = "BW1022"

	EqualsInDeclaration Code = "BW1023" // type Age = u8
)

var _ = register(
	Rule{
		Code: Unreadable, Name: "unreadable-file", Severity: Error,
		Title: "the file cannot be read as a schema",
		Why:   "A schema is a UTF-8 text of at most 64 MiB. A zero byte, another encoding or a larger file means that something else was given by mistake.",
	},
	Rule{
		Code: BadCharacter, Name: "bad-character", Severity: Error,
		Title: "a character that the language does not have",
		Why:   "Outside comments, a schema is written in ASCII. A letter from another alphabet, a no-break space or a typographic quote often looks like the right one.",
		Wrong: "type Café u8",
		Right: "type Cafe u8",
	},
	Rule{
		Code: Unexpected, Name: "unexpected-token", Severity: Error,
		Title: "something stands where it has no place",
		Why:   "The parser says what could stand there instead.",
		Wrong: "type Light enum { RED: 1 }",
		Right: "type Light enum { RED = 1 }",
	},
	Rule{
		Code: Unclosed, Name: "unclosed-bracket", Severity: Error,
		Title: "a bracket has no partner",
		Why:   "Each bracket is closed by one of its own kind. The note shows where the open one is.",
		Wrong: "type Point struct {\n  x: u8",
		Right: "type Point struct {\n  x: u8\n}",
	},
	Rule{
		Code: MissingType, Name: "missing-type", Severity: Error,
		Title: "no type stands where one must",
		Why:   "A declaration, a field, a member of a union and every pair of brackets needs a type.",
		Wrong: "type Point struct {\n  x:\n}",
		Right: "type Point struct {\n  x: u8\n}",
	},
	Rule{
		Code: BadDeclaration, Name: "bad-declaration", Severity: Error,
		Title: "something else than a declaration stands at the top level",
		Why:   "A schema is a list of declarations, each written `type Name …`. The old dialect also has `enum Name { … }`. There are no imports, packages or options.",
		Wrong: "struct Point { x: u8 }",
		Right: "type Point struct { x: u8 }",
	},
	Rule{
		Code: BadSeparator, Name: "bad-separator", Severity: Error,
		Title: "items are separated in another way",
		Why:   "White space separates fields and values; `|` separates the members of a union.",
		Wrong: "type Point struct { x: u8, y: u8 }",
		Right: "type Point struct { x: u8 y: u8 }",
	},
	Rule{
		Code: MissingColon, Name: "missing-colon", Severity: Error,
		Title: "a field has no colon",
		Why:   "A field is written `name: type`.",
		Wrong: "type Point struct { x u8 }",
		Right: "type Point struct { x: u8 }",
	},
	Rule{
		Code: BadTypeForm, Name: "bad-type-form", Severity: Error,
		Title: "a type is written as in another language",
		Why:   "Types that take types put them into angle brackets: `optional<T>`, `list<T>`, `list<T>[n]`, `map<K><V>`. The old dialect's `[]T`, `[n]T` and `map[K]V` are understood too.",
		Wrong: "type Names str[]",
		Right: "type Names list<str>",
	},
	Rule{
		Code: UnknownBuiltin, Name: "unknown-builtin", Severity: Error,
		Title: "there is no built-in type of this name",
		Why:   "Words in lower case are built-in types: uint u8 u16 u32 u64 int i8 i16 i32 i64 f32 f64 bool str data void, and enum optional list map union struct. Names that a schema declares start with a capital letter.",
		Wrong: "type Age int32",
		Right: "type Age i32",
	},
	Rule{
		Code: LowerCaseTypeName, Name: "lower-case-type-name", Severity: Error,
		Title: "a type's name starts with a small letter",
		Why:   "The first letter is what tells a declared type from a built-in one.",
		Wrong: "type point struct { x: u8 }",
		Right: "type Point struct { x: u8 }",
	},
	Rule{
		Code: IntegerTooLarge, Name: "integer-too-large", Severity: Error,
		Title: "a number does not fit in 64 bits",
		Why:   "Values of enums, tags of unions and lengths are unsigned numbers of at most 64 bits.",
		Wrong: "type E enum { A = 18446744073709551616 }",
		Right: "type E enum { A = 18446744073709551615 }",
	},
	Rule{
		Code: BadInteger, Name: "bad-integer", Severity: Error,
		Title: "a number is not written in decimal",
		Why:   "Numbers are decimal digits: no sign, no 0x, no underscores.",
		Wrong: "type Key data[0x10]",
		Right: "type Key data[16]",
	},
	Rule{
		Code: NestedTooDeep, Name: "nested-too-deep", Severity: Error,
		Title: "types are nested too deep",
		Why:   "Types in types are read to a depth of 128. More is a mistake or an attack; programs that walk types must not run out of stack.",
		Wrong: "type A optional<optional<…129 times…>>",
		Right: "type A optional<B>\ntype B u8",
	},
	Rule{
		Code: EmptySchema, Name: "empty-schema", Severity: Error,
		Title: "the file declares no type",
		Why:   "BARE's grammar wants at least one declaration. An empty file is usually the wrong file.",
		Wrong: "# nothing yet",
		Right: "type Name str",
	},
	Rule{
		Code: ForeignComment, Name: "foreign-comment", Severity: Error,
		Title: "a comment is written as in another language",
		Why:   "Comments start with # and end with their line.",
		Wrong: "type Age u8 // in years",
		Right: "type Age u8 # in years",
	},
	Rule{
		Code: BareAnnotation, Name: "bare-annotation", Severity: Error,
		Title: "an annotation stands outside a comment",
		Why:   "BARE forbids extensions, so annotations are comments: every other BARE compiler reads the same file.",
		Wrong: "@align(64)\ntype Block data[64]",
		Right: "#@align(64)\ntype Block data[64]",
	},
	Rule{
		Code: BadAnnotation, Name: "bad-annotation", Severity: Error,
		Title: "an annotation does not follow its grammar",
		Why:   "An annotation is `#@name` or `#@name(arg, …)` and fills its comment. An argument is a word, a number, `name(arg)` or `key=value`. A comment that starts with `# @` is an ordinary one.",
		Wrong: "#@align 64\ntype Block data[64]",
		Right: "#@align(64)\ntype Block data[64]",
	},
	Rule{
		Code: MissingName, Name: "missing-name", Severity: Error,
		Title: "a declaration has no name",
		Why:   "`type` and `enum` are followed by the name of the type.",
		Wrong: "type { x: u8 }",
		Right: "type Point { x: u8 }",
	},
	Rule{
		Code: BadEnumBase, Name: "bad-enum-base", Severity: Error,
		Title: "an enum cannot be stored like this",
		Why:   "On the wire an enum is a uint. Only the old dialect can say otherwise, in a declaration: `enum Level u16 { … }`, with u8, u16, u32 or u64.",
		Wrong: "type Level enum u16 { LOW HIGH }",
		Right: "enum Level u16 { LOW HIGH }",
	},
	Rule{
		Code: TooManyErrors, Name: "too-many-errors", Severity: Error,
		Title: "the compiler gave up",
		Why:   "After 1000 errors the rest of a file is not read, and no more is checked. It is hardly a schema.",
	},
	Rule{
		Code: TooManyTypes, Name: "too-many-types", Severity: Error,
		Title: "there is more than one run takes",
		Why:   "A run takes at most 500000 declarations, and 750000 fields, members and values, so that what it needs of memory has a bound. Files with more are better compiled in several runs, each with its own package.",
	},
	Rule{
		Code: EqualsInDeclaration, Name: "equals-in-declaration", Severity: Error,
		Title: "a sign stands between a type's name and the type",
		Why:   "A declaration is `type Name type`, with white space only. A `=` gives a value of an enum or a member of a union its number, and a `:` stands behind the name of a field.",
		Wrong: "type Age = u8",
		Right: "type Age u8",
	},
)
