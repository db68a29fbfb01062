package diag

// Analyzers: what Go code does to handles that can be seen without following its paths.
const (
	ForgedHandle   Code = "BW5001"
	ZeroArgument   Code = "BW5002"
	Laundered      Code = "BW5003"
	NeverThatType  Code = "BW5004"
	MintedByHand   Code = "BW5005"
	OtherSchema    Code = "BW5006"
	TwoVersions    Code = "BW5007"
	MoreRights     Code = "BW5008"
	DeviceAddress  Code = "BW5009"
	PeerWritable   Code = "BW5010"
	BadDirective   Code = "BW5011"
	StrayDirective Code = "BW5012"
	UnfitEffect    Code = "BW5013"
	IgnoreNoReason Code = "BW5014"
	StaleIgnore    Code = "BW5015"
	StaleSchema    Code = "BW5016"
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
		Why: "The zero Place is no place, the zero Grant grants nothing, a zero window, operation, span or reference is of nothing, and a zero Witness witnesses nothing. " +
			"They are there for variables that get their value later, and to be returned beside an error. A call that is given one " +
			"fails whenever it runs. Functions that take nil as well say so, by a directive (optional): cxl.New takes no pool for a place that has a fallback.",
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
		Code: OtherSchema, Name: "other-schema", Severity: Error,
		Title: "memory of one schema is taken for another's",
		Why: "What lies in a region is what its schema says, for this program and for every peer that was let in. Through unsafe.Pointer, " +
			"or with the bytes of an element, it can be looked at as elements of another schema, and each field is then whatever happens to " +
			"lie there. A type that stands at the beginning of an element may be looked at in its place.",
		Wrong: "other := (*Other)(unsafe.Pointer(sample))\n",
		Right: "other := &Other{Number: uint64(sample.Price)}\n",
	},
	Rule{
		Code: TwoVersions, Name: "two-versions", Severity: Warning,
		Title: "one name stands for two versions of a schema",
		Why: "Programs meet under a name and compare the hashes of their schemas: who has another one is refused. Two packages that were " +
			"generated from different states of a schema, and are used under the same name, find each other never. Generate both anew from the same " +
			"schema, or give the versions names of their own.",
		Wrong: "err := rdma.Offer(ctx, conn, \"samples\", shared)\nold, err2 := rdma.Import(ctx, conn, \"samples\", older.SampleRemoteRead())\n",
		Right: "err := rdma.Offer(ctx, conn, \"samples\", shared)\nold, err2 := rdma.Import(ctx, conn, \"samples/1\", older.SampleRemoteRead())\n",
	},
	Rule{
		Code: MoreRights, Name: "more-rights", Severity: Error,
		Title: "a reference is used for more than it was given for",
		Why: "A reference to a peer's memory, from Import or a #@ref field, is a capability: what it is good for was said by who gave it, and is in its " +
			"type. Narrow and RemoteFrom give rights up and never add any: asked for more they fail whenever they run. A Ref that is " +
			"made up or changed by hand is refused by the peer, and a connection may end by that. Ask who owns the memory for a grant.",
		Wrong: "more, err := barewire.Narrow(readable, SampleRemoteReadWrite())\n",
		Right: "less, err := barewire.Narrow(readable, SampleRemoteRead())\n",
	},
	Rule{
		Code: DeviceAddress, Name: "device-address", Severity: Error,
		Title: "an address that is a device's or a peer's becomes a pointer",
		Why: "AddressOf and references say where a peer or a device finds memory: an offset in a key's space, or a place in the memory of a GPU. " +
			"For this processor the number means nothing, or something else: what is read through it is a fault at best. Memory that the " +
			"processor may reach is reached through a window; the rest is copied to where it may.",
		Wrong: "addr, key, size, err := rdma.AddressOf(conn, shared)\np := (*Sample)(unsafe.Pointer(uintptr(addr)))\n",
		Right: "w, err := barewire.Open(shared)\nv := SampleAt(w, 0)\n",
	},
	Rule{
		Code: PeerWritable, Name: "peer-writable", Severity: Error,
		Title: "a pointer or slice over memory that a peer may change",
		Why: "A window on memory that peers may write or change atomically gives no slice: what Go reads through one may change between two reads, or within " +
			"one, and the compiler counts on the opposite. Made by hand out of an element's bytes or its address it is no better. Read fields through the view, use " +
			"atomics, a snapshot, or wait for a notification; or copy the bytes first.",
		Wrong: "w, err := barewire.Open(writable)\nx, err2 := SampleOver(SampleAt(w, 0).Bytes())\n",
		Right: "w, err := barewire.Open(writable)\nvar x Sample\nerr2 := SampleAt(w, 0).Load(&x)\n",
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
	Rule{
		Code: StaleSchema, Name: "stale-schema", Severity: Error,
		Title: "generated code has parts of two versions",
		Why: "The hash of a schema stands in generated code twice: for the runtime, which peers compare it with, and for the analyzers. Where they " +
			"differ somebody changed the file, or merged two versions of it: the layout may be one version's and the hash the other's. Generate it anew. " +
			"(Whether generated code is as its schema says, `barewire-gen generate --check` tells: the analyzers see Go only.)",
		Wrong: "//barewire:schema market.Deal@sha256:0000000000000000000000000000000000000000000000000000000000000000\n" +
			"func (deal) BareLayout() {}\n\n" +
			"var infoDeal = described{Name: \"market.Deal\", Hash: [32]byte{0x6e}}\n",
		Right: "//barewire:schema market.Deal@sha256:6e00000000000000000000000000000000000000000000000000000000000000\n" +
			"func (deal) BareLayout() {}\n\n" +
			"var infoDeal = described{Name: \"market.Deal\", Hash: [32]byte{0x6e}}\n",
	},
)
