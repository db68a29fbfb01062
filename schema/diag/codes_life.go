package diag

// Lives: what Go code does to regions, windows and operations along its paths.
const (
	UseAfterRelease  Code = "BW5101"
	DoubleRelease    Code = "BW5102"
	UseAfterMove     Code = "BW5103"
	Leak             Code = "BW5104"
	WindowLeak       Code = "BW5105"
	WindowAfterClose Code = "BW5106"
	ReleaseBorrowed  Code = "BW5107"
	ReleaseInFlight  Code = "BW5108"
	DroppedOp        Code = "BW5109"
	IgnoredWait      Code = "BW5110"
	ViewOutlives     Code = "BW5111"
	ErrorPathUse     Code = "BW5112"
	LyingDirective   Code = "BW5113"
	TouchInFlight    Code = "BW5114"
	ReleaseShared    Code = "BW5115"
	ForeignDomain    Code = "BW5116"
	OutsideAcquire   Code = "BW5117"
	UnflushedWrite   Code = "BW5118"
	WrongNode        Code = "BW5119"
	ReadUnplaced     Code = "BW5120"
	AcquireLeak      Code = "BW5121"
	HostHas          Code = "BW5122"
	DroppedUnpin     Code = "BW5123"
	IgnoredError     Code = "BW5124"
)

var _ = register(
	Rule{
		Code: UseAfterRelease, Name: "use-after-release", Severity: Error,
		Title: "a region is used after it was closed",
		Why: "A closed region has no memory: opening a window on it or posting an operation with it is ErrReleased. Another " +
			"function that closes it counts too. The same goes for pools of memory, and for devices, queues and modules of a GPU. Use it before, or close it later: " +
			"a defer behind the error check runs last.",
		Wrong: "err = mr.Close()\nw, err := barewire.Open(mr)\n",
		Right: "w, err := barewire.Open(mr)\nerr = w.Close()\nerr = mr.Close()\n",
	},
	Rule{
		Code: DoubleRelease, Name: "double-release", Severity: Error,
		Title: "a region or window is closed twice",
		Why: "The second Close is an error, ErrReleased or ErrWindowClosed, and a sign that two places believe to own the region. One must " +
			"give it up. A deferred Close counts where it runs: at the end of the function.",
		Wrong: "defer mr.Close()\nerr = mr.Close()\n",
		Right: "defer mr.Close()\n",
	},
	Rule{
		Code: UseAfterMove, Name: "use-after-move", Severity: Error,
		Title: "a region is used after it was moved",
		Why: "Register and Deregister give another region for the same memory, and end the one that they were given: what is " +
			"asked of it afterwards is ErrMoved, also to close it. Use what they return. If they fail the region is as it was, and still to be closed.",
		Wrong: "mr, err := rdma.Register(dom, r, SampleRemoteRead())\nw, err := barewire.Open(r)\n",
		Right: "mr, err := rdma.Register(dom, r, SampleRemoteRead())\nw, err := barewire.Open(mr)\n",
	},
	Rule{
		Code: Leak, Name: "region-leak", Severity: Error,
		Title: "a region, or what was opened for it, is not released on every path",
		Why: "A region's memory is not the garbage collector's: it stays until somebody closes the region, and so does what peers may do with it. " +
			"The usual gap is a return for an error between making the region and closing it: where Register fails the region that it was given is still open. " +
			"Pools of memory (cxl.Pool) are the same, and devices, queues and modules of a GPU: who opened one closes it. " +
			"What is returned, stored or given away is somebody else's to close, and is not reported.",
		Wrong: "r, err := barewire.New(SampleInCPU(), n)\nif err != nil {\n\treturn err\n}\nmr, err := rdma.Register(dom, r, SampleRemoteRead())\nif err != nil {\n\treturn err\n}\ndefer mr.Close()\n",
		Right: "r, err := barewire.New(SampleInCPU(), n)\nif err != nil {\n\treturn err\n}\nmr, err := rdma.Register(dom, r, SampleRemoteRead())\nif err != nil {\n\treturn errors.Join(err, r.Close())\n}\ndefer mr.Close()\n",
	},
	Rule{
		Code: WindowLeak, Name: "window-leak", Severity: Error,
		Title: "a window is not closed on every path",
		Why: "While a window is open its region can be neither closed nor registered: both are ErrBorrowed. One that is never closed keeps its " +
			"region for good. Close it with a defer behind the error check, or let With do both.",
		Wrong: "w, err := barewire.Open(r)\nif err != nil {\n\treturn err\n}\nSampleAt(w, 0).SetCelsius(20)\nreturn nil\n",
		Right: "w, err := barewire.Open(r)\nif err != nil {\n\treturn err\n}\ndefer w.Close()\nSampleAt(w, 0).SetCelsius(20)\nreturn nil\n",
	},
	Rule{
		Code: WindowAfterClose, Name: "window-after-close", Severity: Error,
		Title: "a window is used after it was closed",
		Why: "A closed window reaches memory that its region may no longer have. In a release build nothing checks: the program faults, or " +
			"reads what was there. The race detector and -tags barewiredebug panic.",
		Wrong: "err = w.Close()\nx := SampleAt(w, 0).Celsius()\n",
		Right: "x := SampleAt(w, 0).Celsius()\nerr = w.Close()\n",
	},
	Rule{
		Code: ReleaseBorrowed, Name: "release-while-borrowed", Severity: Error,
		Title: "a region is closed or moved while a window on it is open, or a pool or device while something of it is",
		Why: "Close, Register and Deregister are ErrBorrowed while a window is open, and the region stays as it is. Closing a pool of memory (cxl.Pool) " +
			"while a region of it is not closed is ErrInUse, also where the region was registered; closing a GPU (gpu.Device) while a region, a queue or a module of it is open is ErrBusy. Deferred calls run in the " +
			"opposite order: the window's defer belongs behind the region's, and the region's behind the pool's, or the device's.",
		Wrong: "w, err := barewire.Open(r)\ndefer w.Close()\nmr, err := rdma.Register(dom, r, SampleRemoteRead())\n",
		Right: "w, err := barewire.Open(r)\nerr = w.Close()\nmr, err := rdma.Register(dom, r, SampleRemoteRead())\n",
	},
	Rule{
		Code: ReleaseInFlight, Name: "release-in-flight", Severity: Error,
		Title: "a region is closed or moved while an operation on it is in flight",
		Why: "The device reads or writes the region's memory until the operation has ended; until then Close, Register and Deregister are " +
			"ErrInFlight. Wait for the operation on every path, also where another one could not be posted.",
		Wrong: "op, err := rdma.Read(conn, mr.Span(0, 1), rem)\nerr = mr.Close()\n",
		Right: "op, err := rdma.Read(conn, mr.Span(0, 1), rem)\nerr = op.Wait(ctx)\nerr = mr.Close()\n",
	},
	Rule{
		Code: DroppedOp, Name: "dropped-operation", Severity: Error,
		Title: "an operation is not waited for",
		Why: "Only Wait says whether an operation succeeded, and when its memory may be used again. One that nobody waits for leaves both open. " +
			"Conn.Flush, Conn.Drain and closing the connection end all operations, so that they count as waiting; an operation without a name " +
			"whose posting was checked is left to them.",
		Wrong: "op, err := rdma.Read(conn, mr.Span(0, 1), rem)\nif err != nil {\n\treturn err\n}\nfmt.Println(op)\nreturn nil\n",
		Right: "op, err := rdma.Read(conn, mr.Span(0, 1), rem)\nif err != nil {\n\treturn err\n}\nreturn op.Wait(ctx)\n",
	},
	Rule{
		Code: IgnoredWait, Name: "ignored-wait", Severity: Warning,
		Title: "the error of Wait is not looked at",
		Why: "An operation fails when it is waited for, not when it is posted: who ignores that error goes on with memory that was never written. " +
			"It is not reported where the function returns another error; and _ = op.Wait(ctx) says that it is meant.",
		Wrong: "op, err := rdma.Read(conn, mr.Span(0, 1), rem)\nif err != nil {\n\treturn err\n}\nop.Wait(ctx)\nreturn nil\n",
		Right: "op, err := rdma.Read(conn, mr.Span(0, 1), rem)\nif err != nil {\n\treturn err\n}\nreturn op.Wait(ctx)\n",
	},
	Rule{
		Code: ViewOutlives, Name: "view-outlives", Severity: Error,
		Title: "a view is used after what it is of has ended",
		Why: "Spans are good as long as their region, views, slices and atomics as long as their window, and kernels as long as their module. Afterwards the memory may be gone: the " +
			"program faults, or the operation is refused. Copy what must live longer.",
		Wrong: "w, err := barewire.Open(r)\nv := SampleAt(w, 0)\nerr = w.Close()\nx := v.Celsius()\n",
		Right: "w, err := barewire.Open(r)\nx := SampleAt(w, 0).Celsius()\nerr = w.Close()\n",
	},
	Rule{
		Code: ErrorPathUse, Name: "error-path-use", Severity: Error,
		Title: "a region is used where the call that makes it failed",
		Why: "Together with an error a region is nil, and windows, spans and places asked of it are ErrNoRegion, which hides the first error. " +
			"Found are such uses, in helpers too, on the way where the error was tested and is not nil. Not reported are Close, which gives ErrNoRegion and does " +
			"no harm, Len, and Register; nor uses before anybody tests the error, nor windows and operations that were not made.",
		Wrong: "r, err := barewire.New(SampleInCPU(), n)\nif err != nil {\n\t_, err = barewire.Open(r)\n\treturn err\n}\n",
		Right: "r, err := barewire.New(SampleInCPU(), n)\nif err != nil {\n\treturn err\n}\n",
	},
	Rule{
		Code: LyingDirective, Name: "lying-directive", Severity: Error,
		Title: "a directive says another thing than the function does",
		Why: "Callers are held to what the directive declares, so one that forgets a Close hides every use after it, and one that promises a Close " +
			"that never comes hides leaks; the same goes for results that are new, or of a parameter, and for nodes. " +
			"Correct it, or leave it out: effects are inferred where there are none. Where the body does not show what happens, " +
			"//barewire:trust and a reason says so.",
		Wrong: "//barewire:effect uses=r\nfunc Drop(r *SampleRegion) error { return r.Close() }\n",
		Right: "//barewire:effect releases=r\nfunc Drop(r *SampleRegion) error { return r.Close() }\n",
	},
	Rule{
		Code: TouchInFlight, Name: "touch-in-flight", Severity: Error,
		Title: "memory is touched while an operation has it",
		Why: "Until it has ended the device reads what a Write or a Send sends, and writes where a Read reads to, at any time. A store meanwhile " +
			"is sent or not, or half of it; what is loaded from under a Read is old, new, or both. Nothing at run time sees it. Wait first, or work " +
			"on other elements meanwhile: only elements that surely are the operation's are reported.",
		Wrong: "op, err := rdma.Write(conn, rem, mr.Span(0, 1))\nSampleAt(w, 0).SetCelsius(20)\nerr = op.Wait(ctx)\n",
		Right: "op, err := rdma.Write(conn, rem, mr.Span(0, 1))\nerr = op.Wait(ctx)\nSampleAt(w, 0).SetCelsius(20)\n",
	},
	Rule{
		Code: ReleaseShared, Name: "release-while-shared", Severity: Warning,
		Title: "a region is closed while a goroutine may use it",
		Why: "Nothing says which comes first: the goroutine's use, or the Close, after which it is ErrReleased, or a fault where the goroutine has a window. " +
			"Wait for the goroutine first, by sync.WaitGroup, errgroup or a channel, or let it close what it was given. A wait that the analyzer " +
			"does not see is possible, so it is reported only where barewire-gen vet has --joins (go vet -vettool: -bwlife.joins).",
		Wrong: "go serve(mr)\nerr = mr.Close()\n",
		Right: "var wg sync.WaitGroup\nwg.Go(func() { serve(mr) })\nwg.Wait()\nerr = mr.Close()\n",
	},
	Rule{
		Code: ForeignDomain, Name: "foreign-domain", Severity: Error,
		Title: "a region of one domain is used on a connection of another",
		Why: "What is registered in a domain may be used by the connections of that domain and by no others: the call is ErrDomain. Register the region in the " +
			"connection's domain, or make a sibling of it there: rdma.Also. Reported where one of the two domains is made in the function itself.",
		Wrong: "mr, err := rdma.Register(domA, r, SampleLocal())\ndomB, err := dev.Domain()\nconn, err := domB.Dial(ctx, addr)\nop, err := rdma.Write(conn, rem, mr.Span(0, 1))\n",
		Right: "mr, err := rdma.Register(domA, r, SampleLocal())\ndomB, err := dev.Domain()\nconn, err := domB.Dial(ctx, addr)\nhere, err := rdma.Also(domB, mr, SampleLocal())\nop, err := rdma.Write(conn, rem, here.Span(0, 1))\n",
	},
	Rule{
		Code: OutsideAcquire, Name: "outside-acquire", Severity: Error,
		Title: "memory is touched that is not acquired",
		Why: "Memory that a GPU manages, or that several hosts share without coherence, is the host's only between the calls that acquire and yield it: before and " +
			"afterwards its pages may be elsewhere, or the caches hold what was there once. Views are good as long as it is acquired. " +
			"Functions say by the directives acquires, yields and needs what they are.",
		Wrong: "err = m.Acquire(ctx)\nv := m.View()\nerr = m.Release()\nv[0] = 1\n",
		Right: "err = m.Acquire(ctx)\nv := m.View()\nv[0] = 1\nerr = m.Release()\n",
	},
	Rule{
		Code: UnflushedWrite, Name: "unflushed-write", Severity: Error,
		Title: "shared memory is handed over before what was written is written back",
		Why: "Hosts that share memory without hardware coherence see each other's writes when they have been written back from the caches; others who are told before " +
			"read what was there. Functions say by the directives cleans and hands what they are.",
		Wrong: "err = s.Lock(ctx)\ns.Words()[0] = 1\nerr = s.Unlock()\n",
		Right: "err = s.Lock(ctx)\ns.Words()[0] = 1\nerr = s.Flush()\nerr = s.Unlock()\n",
	},
	Rule{
		Code: WrongNode, Name: "wrong-node", Severity: Warning,
		Title: "memory of one node is touched by a goroutine that is pinned to another",
		Why: "Each access then goes over the interconnect, which is slower and shared. Both nodes are known where it happens, by constants, by types, or by a schema's numa(N), so that one of them is " +
			"meant to be the other. Functions and types say by the directives node, pins and runs what they are.",
		Wrong: "here, err := OnNode(n, 1)\nunpin, err := Pin(0)\ndefer unpin()\nhere.Elements()[0] = 1\n",
		Right: "here, err := OnNode(n, 0)\nunpin, err := Pin(0)\ndefer unpin()\nhere.Elements()[0] = 1\n",
	},
	Rule{
		Code: ReadUnplaced, Name: "read-unplaced", Severity: Warning,
		Title: "memory is read that a write may not have reached yet",
		Why: "When a Write has ended its source may be used again. That it is in place at its destination only Conn.Flush says, or the notification of a WriteNotify, also " +
			"where both are in one program. Over some providers it is in place by then, and over others not.",
		Wrong: "rem, err := rdma.RemoteOf(there)\nop, err := rdma.Write(conn, rem, here.Span(0, 1))\nerr = op.Wait(ctx)\nx := SampleAt(w, 0).Celsius() // of there\n",
		Right: "rem, err := rdma.RemoteOf(there)\n_, err = rdma.Write(conn, rem, here.Span(0, 1))\nerr = conn.Flush(ctx)\nx := SampleAt(w, 0).Celsius()\n",
	},
	Rule{
		Code: AcquireLeak, Name: "acquire-leak", Severity: Warning,
		Title: "memory that was acquired is not released where an error is returned",
		Why: "While the host has memory that a GPU manages the device gets none of it: kernels and copies are ErrHostHas, and where the device excludes the host " +
			"all kernels are. Reported are ways out with an error that leave it so, in functions that release it on those on which all goes well; one that leaves it acquired " +
			"for its callers, always, is not. Release it there, too, or by a defer.",
		Wrong: "err = m.Acquire(ctx)\nif err != nil {\n\treturn err\n}\nif n > len(m.View()) {\n\treturn errors.New(\"too many\")\n}\nclear(m.View()[:n])\nreturn m.Release()\n",
		Right: "err = m.Acquire(ctx)\nif err != nil {\n\treturn err\n}\nif n > len(m.View()) {\n\treturn errors.Join(errors.New(\"too many\"), m.Release())\n}\nclear(m.View()[:n])\nreturn m.Release()\n",
	},
	Rule{
		Code: HostHas, Name: "host-has-it", Severity: Error,
		Title: "a device is given memory that the host has",
		Why: "Kernels and copies are refused on memory that the host has acquired (ErrHostHas), or has mapped (ErrMapped), until it is released, or the window is closed. Functions " +
			"say by the directives acquires, maps and excludes what they are.",
		Wrong: "err = m.Acquire(ctx)\nif err != nil {\n\treturn err\n}\nm.View()[0] = 1\nerr = m.Kernel()\nerr = m.Release()\n",
		Right: "err = m.Acquire(ctx)\nif err != nil {\n\treturn err\n}\nm.View()[0] = 1\nerr = m.Release()\nerr = m.Kernel()\n",
	},
	Rule{
		Code: DroppedUnpin, Name: "dropped-unpin", Severity: Warning,
		Title: "the function that ends a pin is dropped",
		Why: "numa.Pin ties the goroutine to its thread, and that to a node, until the function that it gives is called. Without it who called goes on there, for as long as " +
			"the goroutine lives, and to pin to another node from there is ErrNoProcessor. A goroutine that is to stay where it is may drop it: reported are functions that give numbers, texts or flags, " +
			"which somebody waits for, and those that pin again. numa.Run pins for the time of a function.",
		Wrong: "_, err = numa.Pin(0)\nunpin, err := numa.Pin(1)\ndefer unpin()\n",
		Right: "back, err := numa.Pin(0)\nback()\nunpin, err := numa.Pin(1)\ndefer unpin()\n",
	},
	Rule{
		Code: IgnoredError, Name: "ignored-error", Severity: Warning,
		Title: "the error of publishing or reading shared memory is not looked at",
		Why: "cxl.Publish has published nothing where it gives an error, and what cxl.Snapshot leaves behind with one is not known: nothing but the error says so. " +
			"_, _ = in front of the call says that it is meant. Functions say by the directive tells that they are the same.",
		Wrong: "cxl.Publish(shared, 0, v)\n",
		Right: "_, err = cxl.Publish(shared, 0, v)\n",
	},
)
