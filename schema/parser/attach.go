package parser

import (
	"github.com/fidelityframework/barewire-gen/schema/ast"
)

// spot is a node that comments can belong to.
type spot struct {
	start, end int32
	node       *ast.Attached
}

// open notes that a node starts at the current token; close completes it. So
// the spots lie in source order, outermost first, without a walk of the tree.
func (p *parser) open() int {
	p.spots = append(p.spots, spot{start: p.tok.start})
	return len(p.spots) - 1
}

func (p *parser) close(i int, node *ast.Attached) {
	p.spots[i].end, p.spots[i].node = int32(p.prevEnd), node
}

// attach gives every comment to the node that it belongs to, in one pass over
// comments and nodes side by side.
func (p *parser) attach(tree *ast.File) {
	tree.Comments = make([]*ast.Comment, len(p.comments))
	var inside []spot // the nodes around the place reached, outermost first
	next := 0         // the first node that starts after it
	for i := 0; i < len(p.comments); {
		c := p.comments[i]
		for ; next < len(p.spots) && int(p.spots[next].start) < c.Span.Start; next++ {
			s := p.spots[next]
			inside = append(unnest(inside, int(s.start)+1), s)
		}
		if !c.OwnLine {
			inside = unnest(inside, c.after)
			var node *ast.Attached
			if len(inside) > 0 && c.after > 0 {
				node = inside[len(inside)-1].node
			}
			tree.Comments[i] = c.Comment
			p.give(tree, node, c.Comment, true)
			i++
			continue
		}
		end := p.runEnd(i)
		var node *ast.Attached
		if next < len(p.spots) && p.adjoins(p.comments[end-1].Span.End, int(p.spots[next].start)) {
			node = p.spots[next].node
		}
		for ; i < end; i++ {
			tree.Comments[i] = p.comments[i].Comment
			p.give(tree, node, p.comments[i].Comment, false)
		}
	}
}

// unnest drops the innermost nodes that end before a place.
func unnest(inside []spot, place int) []spot {
	for len(inside) > 0 && int(inside[len(inside)-1].end) < place {
		inside = inside[:len(inside)-1]
	}
	return inside
}

// runEnd is the index behind the run of comments that starts at i: comments on
// lines of their own, with at most a | and no blank line between them.
func (p *parser) runEnd(i int) int {
	for i++; i < len(p.comments); i++ {
		c, before := p.comments[i], p.comments[i-1]
		if !c.OwnLine || !p.adjoins(before.Span.End, c.Span.Start) {
			break
		}
	}
	return i
}

// adjoins reports whether nothing stands between two places but one line end,
// white space, and perhaps the | in front of a union's member.
func (p *parser) adjoins(from, to int) bool {
	lines := 0
	for i := from; i < to; i++ {
		switch p.text[i] {
		case '\n':
			if lines++; lines > 1 {
				return false
			}
		case '|':
			lines = 0
		case ' ', '\t', '\r':
		default:
			return false
		}
	}
	return true
}

// give attaches a comment to a node, or to the file where node is nil.
func (p *parser) give(tree *ast.File, node *ast.Attached, c *ast.Comment, behind bool) {
	if p.isAnnotation(c) {
		a := p.annotation(c)
		switch {
		case a == nil: // reported
			p.lostAnnotation(c)
		case node == nil:
			tree.Annots = append(tree.Annots, a)
		default:
			node.Annots = extend(node.Annots, a, &p.annotPool)
		}
		return
	}
	if node != nil && (!behind || len(node.Doc) == 0) {
		node.Doc = extend(node.Doc, c, &p.docPool)
	}
}

// isAnnotation reports whether a comment starts with #@.
func (p *parser) isAnnotation(c *ast.Comment) bool {
	return c.Span.End-c.Span.Start > 1 && p.text[c.Span.Start+1] == '@'
}
