package randprog

import (
	"fmt"
	"slices"
)

// body writes a few statements.
func (g *gen) body(depth int) {
	for range 1 + g.r.IntN(3) {
		g.statement(depth)
	}
}

// statement writes one, about one of the handles that are alive.
func (g *gen) statement(depth int) {
	if g.room--; g.room < 0 || len(g.lives) == 0 {
		g.use()
		return
	}
	if depth > 3 {
		switch g.r.IntN(3) {
		case 0:
			g.use()
		case 1:
			g.window(depth)
		default:
			g.lend(depth)
		}
		return
	}
	switch g.r.IntN(12) {
	case 0, 1:
		g.use()
	case 2, 3:
		g.window(depth)
	case 4:
		g.lend(depth)
	case 5, 6:
		g.operation(depth)
	case 7:
		g.choice(depth)
	case 8:
		g.repeat(depth)
	case 9:
		g.leave()
	case 10:
		g.literal(depth)
	default:
		g.region(depth)
	}
}

// pick is a handle of one of the kinds.
func (g *gen) pick(kinds string) (life, bool) {
	for range 6 {
		if len(g.lives) == 0 {
			break
		}
		l := g.lives[len(g.lives)-1-min(g.r.IntN(3), g.r.IntN(len(g.lives)))]
		for _, k := range kinds {
			if l.kind == string(k) {
				return l, true
			}
		}
	}
	return life{}, false
}

func (g *gen) use() {
	l, ok := g.pick("UML")
	if !ok {
		g.line("_ = n")
		return
	}
	switch {
	case l.kind == "M" && g.chance(0.4):
		g.block(fmt.Sprintf("if _, err := rdma.RemoteOf(%s); err != nil", l.name), func() { g.exit("err") })
	case l.kind == "M" && g.chance(0.3):
		g.line("_ = peekAll(%s)", l.name)
	case l.kind != "U" && g.chance(0.5):
		g.line("_ = peek(%s)", l.name)
	default:
		g.line("_ = %s.Len()", l.name)
	}
}

func access(kind string) string {
	return map[string]string{"U": "Unregistered", "M": "RemoteReadWrite", "L": "Local"}[kind]
}

// window opens one, looks, and closes it.
func (g *gen) window(depth int) {
	l, ok := g.pick("UML")
	if !ok {
		return
	}
	w := g.name("w")
	g.line("%s, err := barewire.Open(%s)", w, l.name)
	g.check()
	g.line("_ = %s", w)
	if l.deferred && g.loop < 0 && g.chance(0.5) {
		if g.named && !g.nested && g.chance(0.5) {
			g.line("defer func() { err = errors.Join(err, %s.Close()) }()", w)
		} else {
			g.line("defer %s.Close()", w)
		}
		g.look(depth, w)
		return
	}
	g.ends = append(g.ends, w+".Close()")
	view := g.look(depth, w)
	g.ends = g.ends[:len(g.ends)-1]
	g.end(g.one(w+".Close()", w+".Close()", "shut("+w+")"), func() {
		if view != "" && g.chance(0.5) {
			g.line("%s.SetPrice(2)", view)
			return
		}
		g.line(g.one("_ = sample.TickAt(%s, 0).Price()", "_ = %s.Close()", "_ = first(%s)"), w)
	})
}

// look uses a window; it gives the name of a view on it, if there is one.
func (g *gen) look(depth int, w string) (view string) {
	if g.chance(0.5) {
		view = g.name("v")
		g.line("%s := sample.TickAt(%s, 1)", view, w)
		g.line("%s.SetPrice(1)", view)
	}
	for range 1 + g.r.IntN(2) {
		switch g.r.IntN(5) {
		case 0:
			g.line("_ = first(%s)", w)
		case 1:
			g.block("if "+g.flag(), func() { g.line("sample.TickAt(%s, 0).SetPrice(3)", w) })
		case 2:
			g.block("if "+g.flag(), func() { g.exit(g.one("nil", "errBad")) })
		case 3:
			g.block("for range "+g.times(), func() { g.line("_ = sample.TickAt(%s, 0).Price()", w) })
		default:
			if depth < 3 {
				g.statement(depth + 1)
			}
		}
	}
	return view
}

// lend works in a window that a call lends.
func (g *gen) lend(depth int) {
	l, ok := g.pick("UML")
	if !ok {
		return
	}
	w := g.name("w")
	kept := ""
	if g.slip() {
		kept = g.name("v")
		g.line("v%s := func() float64 { return 0 }", kept)
	}
	g.line("if err := barewire.With(%s, func(%s sample.TickWindow[barewire.%s]) error {", l.name, w, access(l.kind))
	g.indent++
	g.inside(func() {
		g.line("sample.TickAt(%s, 0).SetPrice(4)", w)
		if kept != "" {
			g.line("v%s = sample.TickAt(%s, 1).Price", kept, w)
		}
		if g.chance(0.3) {
			g.block("if "+g.flag(), func() { g.exit("errBad") })
		}
		if depth < 3 && g.chance(0.3) {
			g.statement(depth + 1)
		}
		g.line("return nil")
	})
	g.indent--
	g.block("}); err != nil", func() { g.exit("err") })
	if kept != "" {
		g.line("_ = v%s()", kept)
	}
}

// inside writes the body of a function literal: what is open outside is not closed on its ways out.
func (g *gen) inside(body func()) {
	ends, loop, nested := g.ends, g.loop, g.nested
	g.ends, g.loop, g.nested = nil, -1, true
	lives := slices.Clone(g.lives)
	for i := range g.lives {
		g.lives[i].deferred = true // what the literal defers is done before
	}
	body()
	g.lives = lives
	g.ends, g.loop, g.nested = ends, loop, nested
}

// operation posts one and waits for it.
func (g *gen) operation(depth int) {
	l, ok := g.pick("ML")
	if !ok {
		g.use()
		return
	}
	if g.chance(0.2) {
		g.pipeline(l)
		return
	}
	op := g.name("op")
	post := g.one("rdma.Read(c, %s.Span(0, 1), rem.Slice(0, 1))", "rdma.Write(c, rem.Slice(1, 1), %s.Span(1, 1))")
	if l.kind == "M" && g.chance(0.3) {
		post = "start(c, %s, rem)"
	}
	g.line("%s, err := "+post, op, l.name)
	g.check()
	g.line("_ = %s", op)
	wait := g.one(op+".Wait(ctx)", op+".Wait(ctx)", "finish(ctx, "+op+")", "c.Flush(ctx)")
	if l.deferred && g.loop < 0 && g.chance(0.25) {
		g.line("defer func() { _ = %s.Wait(ctx) }()", op)
		if depth < 3 {
			g.statement(depth + 1)
		}
		return
	}
	g.ends = append(g.ends, op+".Wait(ctx)")
	if g.chance(0.4) && depth < 3 {
		g.statement(depth + 1)
	}
	g.ends = g.ends[:len(g.ends)-1]
	if g.slip() {
		g.line("%s", op+".Wait(ctx)")
		return
	}
	g.end(wait, func() { g.line("_ = %s.Wait(ctx)", op) })
}

// pipeline posts several and waits for all, or for the last.
func (g *gen) pipeline(l life) {
	ops := g.name("ops")
	g.line("var %s []rdma.Op", ops)
	g.block("for range "+g.times(), func() {
		op := g.name("op")
		g.line("%s, err := rdma.Read(c, %s.Span(0, 1), rem.Slice(2, 1))", op, l.name)
		g.block("if err != nil", func() { g.line("break") })
		g.line("%s = append(%s, %s)", ops, ops, op)
	})
	switch {
	case g.slip():
		g.line("_ = %s", ops)
	case g.chance(0.3):
		g.block(fmt.Sprintf("if len(%s) > 0", ops), func() { g.line("_ = %s[len(%s)-1].Wait(ctx)", ops, ops) })
	default:
		g.block(fmt.Sprintf("for _, op := range %s", ops), func() { g.line("_ = op.Wait(ctx)") })
	}
}

func (g *gen) choice(depth int) {
	if g.chance(0.25) {
		g.line("switch {")
		for _, c := range []string{"case keep.Flag()", "case b", "default"} {
			g.line("%s:", c)
			g.indent++
			g.scope(func() { g.statement(depth + 1) })
			g.indent--
		}
		g.line("}")
		return
	}
	g.line("if %s {", g.flag())
	g.indent++
	g.scope(func() { g.body(depth + 1) })
	g.indent--
	if g.chance(0.4) {
		g.line("} else {")
		g.indent++
		g.scope(func() { g.body(depth + 1) })
		g.indent--
	}
	g.line("}")
}

// scope writes a block: what is made in it ends in it.
func (g *gen) scope(body func()) {
	lives, ends := len(g.lives), len(g.ends)
	body()
	g.lives, g.ends = g.lives[:lives], g.ends[:ends]
}

func (g *gen) repeat(depth int) {
	loop := g.loop
	t := g.times()
	g.block(g.one("for range "+t, "for i := 0; i < "+t+"; i++", "for range 2"), func() {
		g.loop = len(g.ends)
		g.scope(func() { g.body(depth + 1) })
		g.leave()
		g.line("_ = n")
	})
	g.loop = loop
}

// leave goes out early, on some ways: out of the loop, or of the function.
func (g *gen) leave() {
	g.block("if "+g.flag(), func() {
		if g.loop >= 0 && g.chance(0.5) {
			for _, c := range g.closing(g.loop) {
				g.line("_ = %s", c)
			}
			g.line("%s", g.one("break", "continue"))
			return
		}
		g.exit(g.one("nil", "errBad"))
	})
}

// literal writes a function literal that is called at once, or by a helper.
func (g *gen) literal(depth int) {
	if l, ok := g.pick("M"); ok && g.chance(0.4) {
		m := g.name("m")
		g.line("if err := with(%s, func(%s *M) error {", l.name, m)
		g.indent++
		g.inside(func() {
			g.lives = append(g.lives, life{name: m, kind: "M"})
			g.statement(depth + 1)
			if g.slip() {
				g.line("_ = %s.Close()", m)
			}
			g.line("return nil")
		})
		g.indent--
		g.block("}); err != nil", func() { g.exit("err") })
		return
	}
	g.line("if err := func() error {")
	g.indent++
	g.inside(func() {
		g.body(depth + 1)
		g.line("return nil")
	})
	g.indent--
	g.block("}(); err != nil", func() { g.exit("err") })
}
