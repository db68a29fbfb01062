package randprog

import "fmt"

// region writes the life of a region: how it comes, what is done with it, how it goes.
func (g *gen) region(depth int) {
	if g.chance(0.12) {
		g.conditional(depth)
		return
	}
	l := g.acquire()
	g.line("_ = %s", l.name)
	g.fate(depth, l)
}

// acquire makes a region, and checks that it was made.
func (g *gen) acquire() life {
	switch g.r.IntN(5) {
	case 0:
		m := g.name("m")
		g.line("%s, err := openM(dom)", m)
		g.check()
		return life{name: m, kind: "M"}
	case 1:
		m := g.name("l")
		g.line("%s, err := openL(dom)", m)
		g.check()
		return life{name: m, kind: "L"}
	}
	u := g.name("u")
	g.line("%s, err := %s", u, g.one("newU(4)", "barewire.New(sample.TickInCPU(), 4)"))
	g.check()
	if g.chance(0.35) {
		return life{name: u, kind: "U"}
	}
	g.ends = append(g.ends, u+".Close()")
	if g.chance(0.3) {
		g.lives = append(g.lives, life{name: u, kind: "U"})
		g.statement(9)
		g.lives = g.lives[:len(g.lives)-1]
	}
	kind, grant := "M", "sample.TickRemoteReadWrite()"
	if g.chance(0.3) {
		kind, grant = "L", "sample.TickLocal()"
	}
	m := g.name("m")
	g.line("%s, err := rdma.Register(dom, %s, %s)", m, u, grant)
	g.check()
	g.ends = g.ends[:len(g.ends)-1]
	if g.slip() {
		g.line(g.one("_ = %s.Close()", "_ = peek(%s)", "_, _ = barewire.Open(%s)"), u)
	}
	return life{name: m, kind: kind}
}

// fate is what becomes of a region.
func (g *gen) fate(depth int, l life) {
	ends := []func(int, life){g.straight, g.straight, g.byDefer, g.byDefer, g.byClosure, g.flagged, g.alias}
	if l.kind == "M" {
		ends = append(ends, g.held, g.inSession, g.given, g.moved, g.byHelper, g.mayBeDropped, g.sibling)
	}
	if !g.nested && g.loop < 0 {
		ends = append(ends, g.once, g.stack)
	}
	ends[g.r.IntN(len(ends))](depth, l)
}

// while writes a body in which a handle is alive, and call is what ends it on the ways out.
func (g *gen) while(depth int, l life, call string) {
	g.lives = append(g.lives, l)
	if call != "" {
		g.ends = append(g.ends, call)
	}
	g.body(depth + 1)
	g.lives = g.lives[:len(g.lives)-1]
	if call != "" {
		g.ends = g.ends[:len(g.ends)-1]
	}
}

func (g *gen) after(l life) func() {
	return func() {
		switch {
		case g.chance(0.4):
			g.line("_ = %s.Close()", l.name)
		case l.kind == "U":
			g.line("_, _ = barewire.Open(%s)", l.name)
		default:
			g.line("_ = peek(%s)", l.name)
		}
	}
}

func (g *gen) straight(depth int, l life) {
	call := l.name + ".Close()"
	g.while(depth, l, call)
	if l.kind == "M" && g.chance(0.3) {
		call = g.one("drop(%s)", "dropDeep(%s)", "dropG(%s)", "dropC(%s)")
		call = fmt.Sprintf(call, l.name)
	}
	g.end(call, g.after(l))
}

func (g *gen) byDefer(depth int, l life) {
	switch {
	case g.named && !g.nested && g.chance(0.5):
		g.line("defer func() { err = errors.Join(err, %s.Close()) }()", l.name)
	case g.chance(0.3):
		g.line("defer func() { _ = %s.Close() }()", l.name)
	default:
		g.line("defer %s.Close()", l.name)
	}
	l.deferred = true
	g.while(depth, l, "")
	if g.slip() {
		g.line("_ = %s.Close()", l.name)
	}
}

func (g *gen) byClosure(depth int, l life) {
	stop := g.name("stop")
	if g.chance(0.5) {
		g.line("%s := func() error { return %s.Close() }", stop, l.name)
	} else {
		g.line("%s := %s.Close", stop, l.name)
	}
	g.line("_ = %s", stop)
	g.while(depth, l, stop+"()")
	g.end(stop+"()", g.after(l))
}

// flagged ends a region on one branch, and notes that; on the others it is ended later.
func (g *gen) flagged(depth int, l life) {
	done := g.name("done")
	g.line("%s := false", done)
	g.line("_ = %s", done)
	g.block("if "+g.flag(), func() {
		g.while(depth, l, l.name+".Close()")
		g.end(l.name+".Close()", g.after(l))
		if !g.slip() {
			g.line("%s = true", done)
		}
	})
	g.block("if !"+done, func() {
		g.while(depth, l, l.name+".Close()")
		g.end(l.name+".Close()", g.after(l))
	})
}

func (g *gen) alias(depth int, l life) {
	x := g.name("x")
	g.line("%s := %s", x, l.name)
	g.line("_ = %s", x)
	was := l.name
	l.name = x
	g.while(depth, l, was+".Close()")
	l.name = g.one(x, was)
	g.end(l.name+".Close()", g.after(l))
}

func (g *gen) held(depth int, l life) {
	h := g.name("h")
	g.line("%s := %s{m: %s}", h, g.one("holder", "&holder"), l.name)
	g.line("_ = %s", h)
	was := l.name
	l.name = g.one(h+".m", was)
	g.while(depth, l, g.one(h+".m", was)+".Close()")
	l.name = was
	if g.chance(0.4) {
		g.end(h+".close()", g.after(l))
	} else {
		g.end(g.one(h+".m", was)+".Close()", g.after(l))
	}
}

func (g *gen) inSession(depth int, l life) {
	s := g.name("s")
	g.line("%s := &session{h: holder{m: %s}, size: n}", s, l.name)
	g.line("_ = %s", s)
	was := l.name
	l.name = g.one(s+".h.m", was)
	if g.chance(0.4) {
		g.line("defer %s.Close()", s)
		l.deferred = true
		g.while(depth, l, "")
		return
	}
	g.while(depth, l, s+".Close()")
	l.name = was
	g.end(g.one(s+".Close()", s+".h.m.Close()", s+".h.close()"), g.after(l))
}

// given hands a region to the caller.
func (g *gen) given(depth int, l life) {
	if g.loop >= 0 || g.nested {
		g.while(depth, l, l.name+".Close()")
		g.line("keep.Ms = append(keep.Ms, %s)", l.name)
		return
	}
	if g.kept {
		g.straight(depth, l)
		return
	}
	g.kept = true
	g.while(depth, l, l.name+".Close()")
	g.line(g.one("keep.M = %s", "keep.Ms = append(keep.Ms, %s)"), l.name)
	if g.slip() {
		g.line("_ = %s.Close()", l.name)
	}
}

// moved takes a region's registration back, and closes what that gives.
func (g *gen) moved(depth int, l life) {
	g.while(depth, l, l.name+".Close()")
	u := g.name("u")
	g.ends = append(g.ends, l.name+".Close()")
	g.line("%s, err := rdma.Deregister(ctx, %s)", u, l.name)
	g.check()
	g.line("_ = %s", u)
	g.ends = g.ends[:len(g.ends)-1]
	if g.slip() {
		g.after(l)()
	}
	g.fate(depth+1, life{name: u, kind: "U"})
}

// byHelper ends a region by a function that is told to, or says whether it has.
func (g *gen) byHelper(depth int, l life) {
	g.while(depth, l, l.name+".Close()")
	if g.chance(0.5) {
		cond := g.one("a", "b", "d")
		g.line("_ = dropIf(%s, %s)", l.name, cond)
		if g.slip() {
			cond = g.one("a", "b", "d")
		}
		g.block("if !"+cond, func() { g.end(l.name+".Close()", g.after(l)) })
		return
	}
	g.line("_ = dropIf(%s, %s)", l.name, map[bool]string{true: "true", false: "false"}[!g.slip()])
}

func (g *gen) mayBeDropped(depth int, l life) {
	g.while(depth, l, l.name+".Close()")
	not := "!"
	if g.slip() {
		not = ""
	}
	g.block(fmt.Sprintf("if %stryDrop(%s, k)", not, l.name), func() {
		g.lives = append(g.lives, l)
		g.use()
		g.lives = g.lives[:len(g.lives)-1]
		g.end(l.name+".Close()", g.after(l))
	})
}

func (g *gen) sibling(depth int, l life) {
	s := g.name("m")
	g.ends = append(g.ends, l.name+".Close()")
	g.line("%s, err := rdma.Also(dom, %s, sample.TickRemoteReadWrite())", s, l.name)
	g.check()
	g.line("_ = %s", s)
	g.fate(depth+1, life{name: s, kind: "M"})
	g.ends = g.ends[:len(g.ends)-1]
	g.end(l.name+".Close()", g.after(l))
}

func (g *gen) once(depth int, l life) {
	o, stop := g.name("once"), g.name("stop")
	g.line("var %s sync.Once", o)
	g.line("%s := func() { %s.Do(func() { _ = %s.Close() }) }", stop, o, l.name)
	g.line("defer %s()", stop)
	l.deferred = true
	g.while(depth, l, "")
	if g.chance(0.5) {
		g.line("%s()", stop)
	}
}

// stack puts the end of a region onto a list of what is to be done at the end.
func (g *gen) stack(depth int, l life) {
	undo := g.name("undo")
	g.line("var %s []func() error", undo)
	g.block("defer func()", func() {
		g.block(fmt.Sprintf("for _, f := range %s", undo), func() { g.line("_ = f()") })
	})
	g.unread("}\n", "}()\n")
	g.line("%s = append(%s, %s.Close)", undo, undo, l.name)
	l.deferred = true
	g.while(depth, l, "")
}

// unread replaces the end of what was written.
func (g *gen) unread(old, with string) {
	s := g.out.String()
	g.out.Reset()
	g.out.WriteString(s[:len(s)-len(old)] + with)
}

// conditional makes a region on some ways only.
func (g *gen) conditional(depth int) {
	m, cond := g.name("m"), g.one("a", "b", "d")
	g.line("var %s *M", m)
	g.line("_ = %s", m)
	g.block("if "+cond, func() {
		g.line("got, err := openM(dom)")
		g.check()
		g.line("%s = got", m)
	})
	g.block("if "+g.one(cond, m+" != nil"), func() { g.while(depth, life{name: m, kind: "M"}, m+".Close()") })
	if g.slip() {
		cond = g.one("a", "b", "d")
	}
	g.block("if "+g.one(cond, m+" != nil"), func() { g.end(m+".Close()", g.after(life{name: m, kind: "M"})) })
}
