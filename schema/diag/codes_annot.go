package diag

// Annotations: #@… comments.
const (
	UnknownAnnotation   Code = "BW3001"
	AnnotationPlace     Code = "BW3002"
	DuplicateAnnotation Code = "BW3003"
	AnnotationArgument  Code = "BW3004"
	StrayAnnotation     Code = "BW3005"
	AnnotationType      Code = "BW3006"
	AnnotationConflict  Code = "BW3007"
	ReservedAnnotation  Code = "BW3008"
	SpacedAnnotation    Code = "BW3009"
	SequencePlace       Code = "BW3010"
	NoAtomicWord        Code = "BW3011"
)

var _ = register(
	Rule{
		Code: UnknownAnnotation, Name: "unknown-annotation", Severity: Error,
		Title: "there is no such annotation",
		Why: "A comment that starts with #@ is an annotation, and a misspelled one would silently do nothing. There are package, " +
			"residency, register, align, cacheline, atomic, pad, max, ref and go.",
		Wrong: "#@alignn(64)\ntype Block data[64]\n",
		Right: "#@align(64)\ntype Block data[64]\n",
	},
	Rule{
		Code: AnnotationPlace, Name: "annotation-place", Severity: Error,
		Title: "an annotation stands where it cannot",
		Why: "residency, register and align concern the regions of a type and stand above a declaration; atomic, cacheline, pad " +
			"and ref concern the bytes of one field; max stands on either, go also on members and values; package stands at the " +
			"top of the file.",
		Wrong: "type Block struct {\n  #@align(64)\n  data: data[64]\n}\n",
		Right: "#@align(64)\ntype Block struct {\n  data: data[64]\n}\n",
	},
	Rule{
		Code: DuplicateAnnotation, Name: "duplicate-annotation", Severity: Error,
		Title: "an annotation stands twice on one thing",
		Why:   "The second could only repeat or contradict the first.",
		Wrong: "#@align(64)\n#@align(128)\ntype Block data[128]\n",
		Right: "#@align(128)\ntype Block data[128]\n",
	},
	Rule{
		Code: AnnotationArgument, Name: "annotation-argument", Severity: Error,
		Title: "an annotation has a wrong argument",
		Why: "Each annotation takes arguments of its own, and no others: go doc on package schema lists them. Of regions: #@residency takes " +
			"cpu, numa, numa(N) with N from 0 to 1023, cxl, cxl_shared, gpu, managed, unified, each once, and fallback=unified where all that are listed are " +
			"cpu, numa or cxl; #@register takes local, remote_read, remote_write, remote_atomic; #@ref takes a type and the last three of these.",
		Wrong: "#@residency(cxxl)\ntype Block data[64]\n",
		Right: "#@residency(cxl)\ntype Block data[64]\n",
	},
	Rule{
		Code: StrayAnnotation, Name: "stray-annotation", Severity: Error,
		Title: "an annotation belongs to nothing",
		Why: "An annotation belongs to the declaration, field, member or value right below it, or to what stands before it on its " +
			"line. A blank line separates. One that belongs to nothing would silently do nothing.",
		Wrong: "#@align(64)\n\ntype Block data[64]\n",
		Right: "#@align(64)\ntype Block data[64]\n",
	},
	Rule{
		Code: AnnotationType, Name: "annotation-type", Severity: Error,
		Title: "an annotation does not fit the type it stands on",
		Why: "#@atomic needs u64, i64, u32 or i32, by name or not: other sizes have no atomic instructions everywhere. " +
			"#@atomic(sequence) needs u64, which never starts anew. #@pad needs data[n], #@ref data[48], as written. #@max limits str, data, list<T> and map<K><V>; a field that names a type takes the limit " +
			"of that type's declaration.",
		Wrong: "type Counter struct {\n  #@atomic\n  n: u16\n}\n",
		Right: "type Counter struct {\n  #@atomic\n  n: u32\n}\n",
	},
	Rule{
		Code: AnnotationConflict, Name: "annotation-conflict", Severity: Error,
		Title: "two annotations contradict each other",
		Why: "A remote reference can carry only rights that regions of its type may grant (#@register above that type). " +
			"Memory in cxl_shared or managed cannot be registered: a device's access is not coherent with the host's there.",
		Wrong: "#@register(remote_read)\ntype Block data[64]\n\ntype Offer struct {\n  #@ref(Block, remote_write)\n  block: data[48]\n}\n",
		Right: "#@register(remote_read)\ntype Block data[64]\n\ntype Offer struct {\n  #@ref(Block, remote_read)\n  block: data[48]\n}\n",
	},
	Rule{
		Code: ReservedAnnotation, Name: "reserved-annotation", Severity: Error,
		Title: "the annotation is reserved",
		Why:   "#@go(type=…) will bind a type of your own to a type of the schema. Until it does, it is an error, not a comment.",
		Wrong: "#@go(type=time.Time)\ntype Timestamp i64\n",
		Right: "type Timestamp i64\n",
	},
	Rule{
		Code: SpacedAnnotation, Name: "spaced-annotation", Severity: Info,
		Title: "a comment looks like an annotation",
		Why: "An annotation starts with #@, without a space between the two. A comment that starts with `# @` is an ordinary one, " +
			"whatever follows, and does nothing.",
		Wrong: "# @align(64)\ntype Block data[64]\n",
		Right: "#@align(64)\ntype Block data[64]\n",
	},
	Rule{
		Code: SequencePlace, Name: "sequence-place", Severity: Error,
		Title: "a sequence is not the first of several fields",
		Why: "#@atomic(sequence) marks the word that tells readers whether an element changed while they copied it: odd while it is " +
			"written, greater after. They look for it in the element's first word, before and after they copy the rest, and nothing " +
			"but a sequence would tell them. A counter of something else is #@atomic without an argument, and stands anywhere.",
		Wrong: "type Quote struct {\n  price: f64\n  #@atomic(sequence)\n  seq: u64\n}\n",
		Right: "type Quote struct {\n  #@atomic(sequence)\n  seq: u64\n  price: f64\n}\n",
	},
	Rule{
		Code: NoAtomicWord, Name: "no-atomic-word", Severity: Warning,
		Title: "remote_atomic is granted on a type without a word for atomic operations",
		Why: "A peer's atomic operations change a number of eight bytes, and only #@atomic makes sure that one is aligned in every " +
			"item. Elsewhere a peer's operation may be refused when it runs, and a right that nobody uses only hands out more than is needed. " +
			"Whether the word or the right is to go is not in the schema: no fix is offered.",
		Wrong: "#@register(remote_read, remote_atomic)\ntype Ring struct {\n  #@atomic\n  head: u32\n  size: u32\n}\n",
		Right: "#@register(remote_read, remote_atomic)\ntype Ring struct {\n  #@atomic\n  head: u64\n  size: u64\n}\n",
	},
)
