package diag

// Advice: what the lint command finds in schemas that compile.
const (
	UnusedType      Code = "BW1401"
	ValuePrefix     Code = "BW1402"
	MixedNames      Code = "BW1403"
	PaddingCast     Code = "BW2101"
	OrderCast       Code = "BW2102"
	Straddles       Code = "BW2103"
	WideRight       Code = "BW3101"
	PublishedEdited Code = "BW4101"
)

var _ = register(
	Rule{
		Code: UnusedType, Name: "unused-type", Severity: Info,
		Title: "nothing in the schema uses a type that is hardly a message of its own",
		Why: "Structs, unions, lists, maps and void that nothing uses may be messages. An enum, or a name for a number, text or bytes, is more often left over: " +
			"generated code gets larger by it, and readers look for its use. Go code may still use it, which is why this only informs, and no fix is offered.",
		Wrong: "type Color enum { RED GREEN }\ntype Point struct { x: f32 }\n",
		Right: "type Color enum { RED GREEN }\ntype Point struct { x: f32 color: Color }\n",
	},
	Rule{
		Code: ValuePrefix, Name: "value-prefix", Severity: Info,
		Title: "the values of an enum begin with its name",
		Why: "Constants in Go begin with the enum's name already, so that LIGHT_RED of Light becomes LightLightRed. Names of values are not on the wire. " +
			"Another name breaks programs that use the constant.",
		Wrong: "type Light enum { LIGHT_RED LIGHT_GREEN }\n",
		Right: "type Light enum { RED GREEN }\n",
	},
	Rule{
		Code: MixedNames, Name: "mixed-names", Severity: Info,
		Title: "some fields are in snake_case and others in camelCase",
		Why: "One spelling is easier to read and to search. In Go both become UserID; on the wire there are no names. " +
			"A type's hash changes with them, so peers with references to its regions must change together: no fix is offered.",
		Wrong: "type User struct { user_id: u32 lastName: str firstName: str }\n",
		Right: "type User struct { userId: u32 lastName: str firstName: str }\n",
	},
	Rule{
		Code: PaddingCast, Name: "padding-for-castable", Severity: Info,
		Title: "with padding a type could be used in place as a Go struct",
		Why: "All that keeps the type from being castable is where its fields lie. Padding, written in the schema as #@pad fields, puts each at a multiple of its size; " +
			"then generated code takes bytes as *T and []T. It changes the wire: old messages are not read any more. For a type with regions this is a warning. " +
			"Types that no annotation puts into memory are not looked at: in a message, padding is only more bytes.",
		Wrong: "#@residency(cpu)\ntype Sample struct {\n  kind: u8\n  seq: u64\n}\n",
		Right: "#@residency(cpu)\ntype Sample struct {\n  kind: u8\n  #@pad\n  pad0: data[7]\n  seq: u64\n}\n",
	},
	Rule{
		Code: OrderCast, Name: "order-for-castable", Severity: Info,
		Title: "in another order a type could be used in place as a Go struct",
		Why: "With the fields of the greatest alignment first there are no gaps between them, so the type is castable with less padding than in the order that it has. " +
			"It changes the wire: old messages are not read any more. For a type with regions this is a warning. " +
			"Types that no annotation puts into memory are not looked at.",
		Wrong: "#@residency(cpu)\ntype Sample struct {\n  low: u32\n  seq: u64\n  high: u32\n}\n",
		Right: "#@residency(cpu)\ntype Sample struct {\n  seq: u64\n  low: u32\n  high: u32\n}\n",
	},
	Rule{
		Code: Straddles, Name: "straddles-lines", Severity: Info,
		Title: "a field of a region's elements lies in two cache lines and would fit in one",
		Why: "Who reads it takes two lines from memory, or from another processor, where one would do, and a line of 64 bytes is what hardware moves as one. Elements " +
			"whose size is a multiple of a line all have it at the same place. The fix is another order where that takes fewer bytes, else padding; " +
			"what it moves is taken from padding that follows. It changes the wire.",
		Wrong: "#@residency(cpu)\ntype T struct {\n  a: data[40]\n  key: data[32]\n  #@pad\n  pad0: data[56]\n}\n",
		Right: "#@residency(cpu)\ntype T struct {\n  a: data[40]\n  #@pad\n  pad0: data[24]\n  key: data[32]\n  #@pad\n  pad1: data[32]\n}\n",
	},
	Rule{
		Code: WideRight, Name: "wide-right", Severity: Warning,
		Title: "a type may grant a right that neither a reference carries nor the program grants",
		Why: "Peers get rights in two ways: a #@ref field carries those that it lists, and Go code grants some by name, as BlockRemoteRead() does. A right that #@register " +
			"lists and nobody grants is more than is needed; without it, code that grants it does not compile. Whether nobody does is known only of a program: where the generated code is " +
			"part of a package main, the lint command reads the Go files beside the schema. Any other package may be imported by programs that are not here, so its types are not looked at.",
		Wrong: "#@register(remote_read, remote_write)\ntype Block struct { a: u64 }\ntype Lease struct {\n  #@ref(Block, remote_read)\n  block: data[48]\n}\n",
		Right: "#@register(remote_read)\ntype Block struct { a: u64 }\ntype Lease struct {\n  #@ref(Block, remote_read)\n  block: data[48]\n}\n",
	},
	Rule{
		Code: PublishedEdited, Name: "published-edited", Severity: Error,
		Title: "a type that is published was edited",
		Why: "A lock file, or a tag in git, says which types are in use by others: their structure, names and numbers stay, and what is new goes into new types, " +
			"or into another file. Comments, annotations of places and rights, and the spelling may change. `barewire-gen compat` says what a change would break. " +
			"The lock has hashes and not the types, so no fix is offered.",
		Wrong: "# locked as: type Stop struct { code: u8 }\ntype Stop struct { code: u8 reason: str }\n",
		Right: "type Stop struct { code: u8 }\ntype Stop2 struct { code: u8 reason: str }\n",
	},
)
