package view

import (
	"bytes"
	"fmt"
	"html/template"
	"path/filepath"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// PageOptions selects what a page has.
type PageOptions struct {
	Doc bool // comments, annotations, uses and findings: a page about a schema, and not only its layouts
	// Findings is what lint says of the schema, for pages with Doc.
	Findings diag.List
}

// HTML is a page about types: one file that needs no network, readable on dark screens, too.
func HTML(s *schema.Schema, types []*Type, o PageOptions) ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, pageOf(s, types, o))
	return b.Bytes(), err
}

// document is what a page shows.
type document struct {
	Title  string
	Doc    bool
	Style  template.CSS
	Hatch  template.HTML
	About  []string // the comment at the top of the schema
	Types  []section
	Codes  string // where codes are explained
	Notes  []finding
	Single bool
}

// section is one type on a page.
type section struct {
	*Type
	About       []string // its comment
	Where       string
	Summary     string
	Annotations []string
	UsedBy      []string
	Picture     template.HTML
	Table       [][]cell
	Head        []string
	Advice      []string
	Hash        string
}

// cell is a piece of a table; Link is the type that it names.
type cell struct{ Text, Link, Remark string }

type finding struct{ Code, Name, Where, Severity, Text string }

// Anchor is where the page of codes has the finding's.
func (f finding) Anchor() string { return strings.ToLower(f.Code) + "-" + f.Name }

const codesPage = "https://github.com/fidelityframework/barewire-gen/blob/main/docs/codes.md"

func pageOf(s *schema.Schema, types []*Type, o PageOptions) document {
	d := document{Doc: o.Doc, Style: template.CSS(style + svgStyle), Hatch: template.HTML(hatch), Codes: codesPage, Single: len(types) == 1}
	var names []string
	for _, ns := range s.Namespaces {
		for _, f := range ns.Files {
			names = append(names, filepath.Base(f.Syntax.Src.Name()))
			d.About = append(d.About, joined(f.Doc)...)
		}
	}
	d.Title = strings.Join(names, ", ")
	users := usersOf(s)
	for _, t := range types {
		sec := section{Type: t, Where: where(t), Summary: t.summary(), About: joined(t.Decl.Doc), Picture: template.HTML(t.drawing()), Advice: t.advice()}
		sec.Head, sec.Table = t.cells()
		if o.Doc {
			for _, a := range t.Decl.Syntax.Annots {
				sec.Annotations = append(sec.Annotations, strings.TrimSpace(a.Span.Text()))
			}
			sec.UsedBy = users[t.Decl]
			sec.Hash = fmt.Sprintf("%x", schema.Hash(t.Decl))
		}
		d.Types = append(d.Types, sec)
	}
	for _, f := range o.Findings {
		where := ""
		if f.Primary.Span.IsValid() {
			where = fmt.Sprintf("%s:%d", f.Primary.Span.File.Name(), f.Primary.Span.Pos().Line)
		}
		d.Notes = append(d.Notes, finding{string(f.Code), f.Code.Rule().Name, where, f.Severity.String(), f.Message})
	}
	return d
}

// joined makes paragraphs of the lines of a comment: an empty line ends one.
func joined(lines []string) (paragraphs []string) {
	open := false
	for _, l := range lines {
		l = strings.TrimSpace(l)
		switch {
		case l == "":
			open = false
			continue
		case open:
			paragraphs[len(paragraphs)-1] += " " + l
		default:
			paragraphs = append(paragraphs, l)
		}
		open = true
	}
	return paragraphs
}

func where(t *Type) string { return fmt.Sprintf("%s:%d", t.File, t.Line) }

// usersOf says for each type which others name it, in the order of the source.
func usersOf(s *schema.Schema) map[*resolve.Decl][]string {
	all := map[*resolve.Decl][]string{}
	for _, d := range Decls(s) {
		var walk func(t *resolve.Type)
		walk = func(t *resolve.Type) {
			if t.Kind == resolve.Ref {
				if l := all[t.Decl]; len(l) == 0 || l[len(l)-1] != d.Name {
					all[t.Decl] = append(l, d.Name)
				}
			}
			for _, f := range t.Fields {
				walk(f.Type)
			}
			for _, m := range t.Members {
				walk(m.Type)
			}
			if t.Key != nil {
				walk(t.Key)
			}
			if t.Elem != nil {
				walk(t.Elem)
			}
		}
		walk(d.Type)
	}
	return all
}

// cells is a type's table: its fields, members or values.
func (t *Type) cells() (head []string, rows [][]cell) {
	switch {
	case t.Kind == "union":
		head = []string{"tag", "size", "type", "about"}
		for i, m := range t.Decl.Type.Resolve().Members {
			r := t.Rows[i]
			most := r.Max
			if most != nil {
				sum := *most + varintSize(m.Tag)
				most = &sum
			}
			rows = append(rows, []cell{{Text: fmt.Sprint(m.Tag)}, {Text: sizeOf(r.Min+varintSize(m.Tag), most)}, typeCell(m.Type), {Text: strings.Join(m.Doc, " ")}})
		}
	case len(t.Values) > 0:
		head = []string{"value", "size", "name", "about"}
		for i, v := range t.Values {
			rows = append(rows, []cell{{Text: fmt.Sprint(v.Value)}, {Text: fmt.Sprint(v.Size)}, {Text: v.Name}, {Text: strings.Join(t.Decl.Type.Values[i].Doc, " ")}})
		}
	case t.Kind == "struct":
		head = []string{"offset", "size", "field", "type", "about"}
		rows = t.fieldCells()
	case t.Kind != t.Type:
		head = []string{"type"}
		rows = [][]cell{{typeCell(t.Decl.Type)}}
	}
	return head, rows
}

func (t *Type) fieldCells() (rows [][]cell) {
	i := 0
	fields := t.Decl.Type.Resolve().Fields
	for _, r := range t.Rows {
		offset := "varies"
		if r.Offset != nil {
			offset = fmt.Sprint(*r.Offset)
		}
		c := []cell{{Text: offset}, {Text: sizeOf(r.Min, r.Max)}, {Text: r.Field}, {Text: r.Type}, {Remark: remark(r)}}
		if r.Depth == 0 && i < len(fields) {
			c[3] = typeCell(fields[i].Type)
			c[4].Text = strings.Join(fields[i].Doc, " ")
			i++
		}
		rows = append(rows, c)
	}
	return rows
}

// typeCell names a type, with a link where it is one name.
func typeCell(t *resolve.Type) cell {
	c := cell{Text: t.Short()}
	for e := t; e != nil; e = e.Elem {
		if e.Kind == resolve.Ref {
			c.Link = e.Decl.Name
		}
	}
	return c
}

var page = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.Title}}</title>
<style>
{{.Style}}body{font:15px/1.5 system-ui,sans-serif;background:var(--bg);color:var(--fg);max-width:60rem;margin:2rem auto;padding:0 1rem}
code,td,th{font:13px/1.4 ui-monospace,Menlo,Consolas,monospace}p,h1,h2{overflow-wrap:anywhere}table{border-collapse:collapse;margin:.6rem 0;display:block;overflow-x:auto}td,th{border-bottom:1px solid var(--line);padding:.15rem .7rem .15rem 0;text-align:left;vertical-align:top}
th,.dim{color:var(--dim)}a{color:var(--link)}section{border-top:1px solid var(--line);margin-top:2rem}svg{max-width:100%;height:auto}.remark{color:var(--warn)}h2{margin-bottom:0}p{margin:.4rem 0}
</style>
</head>
<body>
<svg width="0" height="0" aria-hidden="true" style="position:absolute">{{.Hatch}}</svg>
<h1>{{.Title}}</h1>
{{range .About}}<p>{{.}}</p>
{{end}}{{if not .Single}}<table id="overview">
<tr><th>type</th><th>kind</th><th>layout</th></tr>
{{range .Types}}<tr><td><a href="#{{.Name}}">{{.Name}}</a></td><td>{{.Kind}}</td><td>{{.Summary}}</td></tr>
{{end}}</table>
{{end}}{{range .Types}}<section id="{{.Name}}">
<h2>{{.Name}}</h2>
<p class="dim">{{.Kind}}, {{.Where}}</p>
{{range .About}}<p>{{.}}</p>
{{end}}<p><code>{{.Summary}}</code></p>
{{range .Annotations}}<p><code>{{.}}</code></p>
{{end}}{{.Picture}}
{{if .Table}}<table>
<tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr>
{{range .Table}}<tr>{{range .}}<td>{{if .Link}}<a href="#{{.Link}}">{{.Text}}</a>{{else}}{{.Text}}{{end}}{{if .Remark}} <span class="remark">{{.Remark}}</span>{{end}}</td>{{end}}</tr>
{{end}}</table>
{{end}}{{range .Advice}}<p class="dim">{{.}}</p>
{{end}}{{if .UsedBy}}<p>used by {{range $i, $n := .UsedBy}}{{if $i}}, {{end}}<a href="#{{$n}}">{{$n}}</a>{{end}}</p>
{{end}}{{if .Hash}}<p class="dim">hash <code>{{.Hash}}</code></p>
{{end}}</section>
{{end}}{{if .Notes}}{{$codes := .Codes}}<section id="findings">
<h2>Findings</h2>
<table>
{{range .Notes}}<tr><td><a href="{{$codes}}#{{.Anchor}}">{{.Code}}</a> {{.Name}}</td><td>{{.Severity}}</td><td>{{.Where}}</td><td>{{.Text}}</td></tr>
{{end}}</table>
</section>
{{end}}</body>
</html>
`))
