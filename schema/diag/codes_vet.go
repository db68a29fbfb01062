package diag

// Analyzers: what Go code does to handles that can be seen without following its paths.
const (
	ForgedHandle   Code = "BW5001"
	ZeroArgument   Code = "BW5002"
	Laundered      Code = "BW5003"
	NeverThatType  Code = "BW5004"
	MintedByHand   Code = "BW5005"
	BadDirective   Code = "BW5011"
	StrayDirective Code = "BW5012"
	UnfitEffect    Code = "BW5013"
	IgnoreNoReason Code = "BW5014"
	StaleIgnore    Code = "BW5015"
)

var _ = register(
	Rule{
		Code: ForgedHandle, Name: "forged-handle", Severity: Error,
		Title: "a handle is made without its allocator",
		Why: "A handle such as *barewire.Region stands for memory that an allocator made. A literal, new, or a variable, field or " +
			"element that holds one by value is a handle of nothing: its type promises a residency and rights, and every use of it " +
			"is an error when the program runs. Copying a handle by value is no better, since the copy is not told when the handle is " +
			"moved or closed. Hold a pointer, which is nil until there is a region.",
		Wrong: "var mr barewire.Region[Sample, barewire.CPU, barewire.RemoteRead]\nerr := rdma.Offer(ctx, conn, \"samples\", &mr)\n",
		Right: "mr, err := rdma.Register(dom, region, SampleRemoteRead())\nerr = rdma.Offer(ctx, conn, \"samples\", mr)\n",
	},
	Rule{
		Code: ZeroArgument, Name: "zero-argument", Severity: Error,
		Title: "a zero value is given to a call that cannot use one",
		Why: "The zero Place is no place, the zero Grant grants nothing, and a zero window, operation, span or reference is of nothing. " +
			"They are there for variables that get their value later, and to be returned beside an error. A call that is given one " +
			"fails whenever it runs.",
		Wrong: "var place barewire.Place[Sample, barewire.CPU]\nr, err := barewire.New(place, 1024)\n",
		Right: "r, err := barewire.New(SampleInCPU(), 1024)\n",
	},
	Rule{
		Code: Laundered, Name: "laundered-handle", Severity: Error,
		Title: "what a handle's type says is taken off",
		Why: "A handle's type says where its memory lives, who may reach it and what lies in it, and the compiler holds each call to " +
			"that. A detour through unsafe.Pointer, reflect, go:linkname or a type declared over a handle's takes the promise off or " +
			"makes another up: a GPU's address is then read by the processor, or a peer is let into memory that was never " +
			"registered. Registering, Deregister, Narrow and the generated views are the ways from one type to another.",
		Wrong: "cpu := (*barewire.Region[Sample, barewire.CPU, barewire.Local])(unsafe.Pointer(gpu))\n",
		Right: "cpu, err := barewire.New(SampleInCPU(), n)\n",
	},
	Rule{
		Code: NeverThatType, Name: "never-that-type", Severity: Error,
		Title: "a handle is asserted to be of a type that it never is",
		Why: "A value keeps the type that it was made with. A region for CPU memory that is put into an interface comes out as a region " +
			"for CPU memory or not at all: an assertion to other elements, another residency or another access panics, or is never true.",
		Wrong: "gpu := any(cpu).(*barewire.Region[Sample, barewire.GPU, barewire.Unregistered])\n",
		Right: "same := any(cpu).(*barewire.Region[Sample, barewire.CPU, barewire.Unregistered])\n",
	},
	Rule{
		Code: MintedByHand, Name: "minted-by-hand", Severity: Error,
		Title: "a function that is for generated code is used by hand",
		Why: "Places and grants say what the schema allows, and the functions beneath views take sizes and offsets that only the " +
			"generator knows. By hand they make a region live where its schema forbids, grant rights that it does not give, or read beside the " +
			"field. Say what is meant in the schema, with #@residency and #@register, and use what is generated.",
		Wrong: "g := barewire.MintGrant[Sample, barewire.RemoteWrite](&info)\n",
		Right: "g := SampleRemoteWrite() // with #@register(remote_write) in the schema\n",
	},
	Rule{
		Code: BadDirective, Name: "bad-directive", Severity: Error,
		Title: "a //barewire: directive cannot be read",
		Why: "Directives tell the analyzers what types and functions are. One with a slip would turn a check off without a word, so " +
			"every word must be known. They start as //go: directives do, without a space behind the slashes.",
		Wrong: "//barewire:effect release=r\nfunc Drop(r *SampleRegion) error\n",
		Right: "//barewire:effect releases=r\nfunc Drop(r *SampleRegion) error\n",
	},
	Rule{
		Code: StrayDirective, Name: "stray-directive", Severity: Error,
		Title: "a //barewire: directive belongs to nothing",
		Why: "type, residency and access stand in the comment above a type's declaration, effect and generated above a function or method, " +
			"trust above a function or a package clause, without a blank line between. Elsewhere they would silently do nothing.",
		Wrong: "//barewire:effect releases=r\n\nfunc Drop(r *SampleRegion) error\n",
		Right: "//barewire:effect releases=r\nfunc Drop(r *SampleRegion) error\n",
	},
	Rule{
		Code: UnfitEffect, Name: "unfit-effect", Severity: Error,
		Title: "an effect does not fit the function below it",
		Why: "An effect names parameters and the receiver as the function does, results by their numbers from 0 on, and has a condition only " +
			"where the last result is an error or a bool.",
		Wrong: "//barewire:effect releases=region\nfunc Drop(r *SampleRegion) error\n",
		Right: "//barewire:effect releases=r\nfunc Drop(r *SampleRegion) error\n",
	},
	Rule{
		Code: IgnoreNoReason, Name: "ignore-without-reason", Severity: Error,
		Title: "an ignore does not say why",
		Why: "Who reads the code later needs to know why a finding is none, and whether that still holds. An ignore without a reason, " +
			"or without the code of one finding, ignores nothing.",
		Wrong: "barewire.New(none, 1) //barewire:ignore BW5002\n",
		Right: "barewire.New(none, 1) //barewire:ignore BW5002 the test wants the error\n",
	},
	Rule{
		Code: StaleIgnore, Name: "stale-ignore", Severity: Warning,
		Title: "an ignore has nothing to ignore",
		Why: "The finding that it was written for is gone, or is on another line: an ignore is for its own line, or for the next where it " +
			"stands alone. Left behind it would hide the next fault of that kind.",
		Wrong: "r, err := barewire.New(SampleInCPU(), 1) //barewire:ignore BW5002 the test wants the error\n",
		Right: "r, err := barewire.New(SampleInCPU(), 1)\n",
	},
)
