package view

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema"
)

// Markdown is the page about a schema in Markdown, as GitHub shows it.
func Markdown(s *schema.Schema, types []*Type, o PageOptions) []byte {
	d := pageOf(s, types, o)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", plain(d.Title))
	paragraphs(&b, d.About)
	if !d.Single {
		b.WriteString("\n| type | kind | layout |\n|---|---|---|\n")
		for _, t := range d.Types {
			fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", t.Name, strings.ToLower(t.Name), t.Kind, cellText(t.Summary))
		}
	}
	for _, t := range d.Types {
		t.markdown(&b)
	}
	if len(d.Notes) > 0 {
		b.WriteString("\n## Findings\n\n| code | | place | |\n|---|---|---|---|\n")
		for _, f := range d.Notes {
			fmt.Fprintf(&b, "| [%s](%s#%s) | %s | %s | %s |\n", f.Code, d.Codes, f.Anchor(), f.Severity, cellText(f.Where), cellText(f.Text))
		}
	}
	return b.Bytes()
}

func (t *section) markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## %s\n\n%s, %s\n", t.Name, t.Kind, plain(t.Where))
	paragraphs(b, t.About)
	fmt.Fprintf(b, "\n`%s`\n", t.Summary)
	for _, a := range t.Annotations {
		fmt.Fprintf(b, "\n`%s`\n", a)
	}
	if len(t.Table) > 0 {
		fmt.Fprintf(b, "\n| %s |\n|%s\n", strings.Join(t.Head, " | "), strings.Repeat("---|", len(t.Head)))
		for _, row := range t.Table {
			var cells []string
			for _, c := range row {
				text := cellText(c.Text)
				if c.Link != "" {
					text = fmt.Sprintf("[%s](#%s)", text, strings.ToLower(c.Link))
				}
				cells = append(cells, strings.TrimSpace(text+" "+cellText(c.Remark)))
			}
			fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	if t.Kind == "struct" && t.Size != nil {
		var picture bytes.Buffer
		t.drawLines(&picture, Page)
		fmt.Fprintf(b, "\n```\n%s```\n", bytes.TrimLeft(picture.Bytes(), "\n"))
	}
	for _, a := range t.Advice {
		fmt.Fprintf(b, "\n%s\n", plain(a))
	}
	if len(t.UsedBy) > 0 {
		var links []string
		for _, n := range t.UsedBy {
			links = append(links, fmt.Sprintf("[%s](#%s)", n, strings.ToLower(n)))
		}
		fmt.Fprintf(b, "\nused by %s\n", strings.Join(links, ", "))
	}
	if t.Hash != "" {
		fmt.Fprintf(b, "\nhash `%s`\n", t.Hash)
	}
}

func paragraphs(b *bytes.Buffer, lines []string) {
	for _, l := range lines {
		l = plain(l)
		if strings.IndexAny(l, "#=~+-") == 0 {
			l = `\` + l // no heading, rule, fence or list
		}
		b.WriteString("\n" + l + "\n")
	}
}

// plain makes a text mean itself in Markdown, but for `code`.
func plain(s string) string {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 || strings.Contains(s, "``") {
		return strings.ReplaceAll(special.Replace(s), "`", "\\`")
	}
	for i := 0; i < len(parts); i += 2 {
		parts[i] = special.Replace(parts[i])
	}
	return strings.Join(parts, "`")
}

// cellText is a text for a cell of a table.
func cellText(s string) string { return strings.ReplaceAll(plain(s), "|", `\|`) }

var special = strings.NewReplacer(`\`, `\\`, "<", `\<`, ">", `\>`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`)
