package archtest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	inline   = regexp.MustCompile("`[^`\n]*`")
	heading  = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	named    = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// TestLinks: what the pages link to within this repository is there, and so are the headings.
func TestLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	var pages []string
	for _, where := range []string{"*.md", "docs/*.md", "docs/*/*.md", "*/README.md", "*/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(where)))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	n, there := 0, map[string]map[string]bool{}
	for _, file := range pages {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		page = filepath.ToSlash(page)
		text := inline.ReplaceAllString(fenced.ReplaceAllString(string(b), ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if to := m[1]; !strings.Contains(to, "://") {
				n++
				if why := dead(root, page, to, there); why != "" {
					t.Errorf("%s links to %s: %s", page, to, why)
				}
			}
		}
	}
	if n == 0 {
		t.Error("there are no links; are these the right pages?")
	}
}

// dead says why a link of a page leads nowhere, or nothing. What it looks for in pages stays in there.
func dead(root, page, to string, there map[string]map[string]bool) string {
	to, fragment, _ := strings.Cut(to, "#")
	target := page
	if to != "" {
		target = path.Join(path.Dir(page), to)
	}
	file := filepath.Join(root, filepath.FromSlash(target))
	if _, err := os.Stat(file); err != nil {
		return err.Error()
	}
	if fragment == "" || path.Ext(target) != ".md" {
		return ""
	}
	if there[target] == nil {
		b, err := os.ReadFile(file)
		if err != nil {
			return err.Error()
		}
		there[target] = anchors(string(b))
	}
	if !there[target][fragment] {
		return "there is no such heading"
	}
	return ""
}

// anchors are the fragments that lead into a page, as GitHub makes them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		s := strings.ToLower(link.ReplaceAllString(m[1], "]"))
		all[strings.ReplaceAll(noAnchor.ReplaceAllString(s, ""), " ", "-")] = true
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	return all
}
