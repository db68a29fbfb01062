package diag

// Layout: what an annotation asks of the bytes and the bytes do not give.
const (
	AtomicUnaligned Code = "BW2001"
	CachelineStart  Code = "BW2002"
	CachelineShared Code = "BW2003"
	EmbedUnaligned  Code = "BW2004"
	NoFixedPlace    Code = "BW2005"
	SizeUnaligned   Code = "BW2006"
	NeedsSize       Code = "BW2007"
	TooLarge        Code = "BW2008"
	FalseSharing    Code = "BW2009"
	StrideUnaligned Code = "BW2010"

	FalseSharingList Code = "BW2011"
)

var _ = register(
	Rule{
		Code: AtomicUnaligned, Name: "atomic-unaligned", Severity: Error,
		Title: "an #@atomic field is not aligned",
		Why: "Processors and network cards change a number at once only where it lies at a multiple of its size. The layout is the " +
			"wire's, so nothing is moved: padding is written in the schema, as a field that is zero on the wire and hidden in Go.",
		Wrong: "type Ring struct {\n  full: u8\n  #@atomic\n  head: u64\n}\n",
		Right: "type Ring struct {\n  full: u8\n  #@pad\n  pad0: data[7]\n  #@atomic\n  head: u64\n}\n",
	},
	Rule{
		Code: CachelineStart, Name: "cacheline-start", Severity: Error,
		Title: "a #@cacheline field does not start a cache line",
		Why: "The field starts in a line that it shares with what stands before it. Padding before it, written in the schema, " +
			"moves it to the next line. A line is 64 bytes, or 128 with #@cacheline(128).",
		Wrong: "type Ring struct {\n  size: u64\n  #@cacheline\n  head: data[64]\n}\n",
		Right: "type Ring struct {\n  size: u64\n  #@pad\n  pad0: data[56]\n  #@cacheline\n  head: data[64]\n}\n",
	},
	Rule{
		Code: CachelineShared, Name: "cacheline-shared", Severity: Error,
		Title: "a #@cacheline field shares its last cache line",
		Why: "Something follows the field in the line where it ends: the next field, or the next item where many lie one after " +
			"another. Padding behind it, written in the schema, keeps the line to itself.",
		Wrong: "type Ring struct {\n  #@cacheline\n  head: u64\n  #@cacheline\n  tail: u64\n}\n",
		Right: "type Ring struct {\n  #@cacheline\n  head: u64\n  #@pad\n  pad0: data[56]\n  #@cacheline\n  tail: u64\n  #@pad\n  pad1: data[56]\n}\n",
	},
	Rule{
		Code: EmbedUnaligned, Name: "embed-unaligned", Severity: Error,
		Title: "a type with #@atomic or #@cacheline in it is embedded at a place that breaks it",
		Why: "Such fields are placed from the start of their type. Where the type stands inside another, or many stand one after " +
			"another, every one of them must start at a multiple of what the fields need.",
		Wrong: "type Counter struct {\n  #@atomic\n  n: u64\n}\ntype Pair struct {\n  kind: u32\n  hits: Counter\n}\n",
		Right: "type Counter struct {\n  #@atomic\n  n: u64\n}\ntype Pair struct {\n  hits: Counter\n  kind: u32\n  #@pad\n  pad0: data[4]\n}\n",
	},
	Rule{
		Code: NoFixedPlace, Name: "no-fixed-place", Severity: Error,
		Title: "an #@atomic or #@cacheline field has no fixed place",
		Why: "The bytes before the field vary in number, so it lies somewhere else in each message: behind a field of varying " +
			"size, in a list or map that is counted, in an optional or union. Keep such fields in a type of fixed size that is not " +
			"embedded there.",
		Wrong: "type Ring struct {\n  name: str\n  #@atomic\n  head: u64\n}\n",
		Right: "type Ring struct {\n  #@atomic\n  head: u64\n  name: data[24]\n}\n",
	},
	Rule{
		Code: SizeUnaligned, Name: "size-unaligned", Severity: Error,
		Title: "the size of a type is no multiple of its #@align",
		Why: "Items of the type lie one after another in a region. Each starts at a multiple of #@align only where the size is " +
			"one too. Padding at the end is written in the schema.",
		Wrong: "#@align(64)\ntype Block struct {\n  seq:  u64\n  data: data[32]\n}\n",
		Right: "#@align(64)\ntype Block struct {\n  seq:  u64\n  data: data[32]\n  #@pad\n  pad0: data[24]\n}\n",
	},
	Rule{
		Code: NeedsSize, Name: "needs-size", Severity: Error,
		Title: "a type for regions has no greatest size",
		Why: "Memory is set aside for a known number of bytes per item: the type's size where it is fixed, else a slot of its greatest size. " +
			"A str, data, list or map has one through #@max(N), a uint or int without. How long values get is not in the schema: the fix writes #@max(64), a number to look at, " +
			"where a field or a type can take it. What stands inside a list or an optional needs a name first.",
		Wrong: "#@residency(cxl)\ntype Person struct {\n  name: str\n}\n",
		Right: "#@residency(cxl)\ntype Person struct {\n  #@max(100)\n  name: str\n}\n",
	},
	Rule{
		Code: TooLarge, Name: "too-large", Severity: Error,
		Title: "a type of fixed size is larger than 256 MiB",
		Why: "A fixed type is one value in Go, in one piece of memory. For more data take a list without a fixed length, or a " +
			"region of many items.",
		Wrong: "type Frame data[1000000000]\n",
		Right: "type Row data[100000]\ntype Frame list<Row>\n",
	},
	Rule{
		Code: StrideUnaligned, Name: "stride-unaligned", Severity: Error,
		Title: "a type's size breaks an #@atomic or #@cacheline field in the next item",
		Why: "Items of a fixed type lie one after another, in a region and in a list<T>[n]. The second starts where the first ends, so " +
			"the size must be a multiple of what the fields in it need. Padding at the end is written in the schema.",
		Wrong: "type Ring struct {\n  #@atomic\n  head: u64\n  size: u32\n}\n",
		Right: "type Ring struct {\n  #@atomic\n  head: u64\n  size: u32\n  #@pad\n  pad0: data[4]\n}\n",
	},
	Rule{
		Code: FalseSharing, Name: "false-sharing", Severity: Warning,
		Title: "two #@atomic fields lie in one cache line",
		Why: "Whoever changes one of them takes the line away from whoever uses the other, and both become slow. Where they are " +
			"used by different processors, give each a line of its own with #@cacheline and #@pad.",
		Wrong: "type Ring struct {\n  #@atomic\n  head: u64\n  #@atomic\n  tail: u64\n}\n",
		Right: "type Ring struct {\n  #@atomic\n  #@cacheline\n  head: u64\n  #@pad\n  pad0: data[56]\n  #@atomic\n  #@cacheline\n  tail: u64\n  #@pad\n  pad1: data[56]\n}\n",
	},
	Rule{
		Code: FalseSharingList, Name: "false-sharing-list", Severity: Warning,
		Title: "#@atomic fields of neighbouring elements lie in one cache line",
		Why: "Whoever changes the field in one element takes the line away from whoever uses it in the next, and both become slow. " +
			"So do the elements of a list, and those of a region. " +
			"Where elements belong to different processors, make the size of one a multiple of a cache line, 64 bytes, with #@pad. " +
			"Where one processor uses them all, all is well.",
		Wrong: "type Counter struct {\n  #@atomic\n  hits: u64\n}\ntype PerCPU list<Counter>[64]\n",
		Right: "type Counter struct {\n  #@atomic\n  hits: u64\n  #@pad\n  pad0: data[56]\n}\ntype PerCPU list<Counter>[64]\n",
	},
)
