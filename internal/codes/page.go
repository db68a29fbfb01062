package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// stages are the parts of the page, by how their codes begin.
var stages = []struct{ prefix, title string }{
	{"BW10", "Syntax"},
	{"BW11", "Types and declarations"},
	{"BW12", "What other compilers and some drafts refuse"},
	{"BW13", "Names in Go"},
	{"BW14", "Names and use"},
	{"BW2", "Layout"},
	{"BW3", "Annotations"},
	{"BW4", "Compatibility"},
	{"BW5", "Analyzers"},
	{"BW6", "Messages and versions"},
	{"BW9", "Faults of the compiler"},
}

// page is the page in Markdown: an overview, then each rule as explain shows it.
// Rules are sorted by code.
func page(rules []*diag.Rule) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("<!-- Code generated from schema/diag by " + command + "; DO NOT EDIT. -->\n\n" +
		"# Diagnostic codes\n\n" +
		"Every finding carries a code, `BW` and four digits. A code is never given to another rule. `barewire-gen explain BW1101`\n" +
		"(or `explain duplicate-type`) shows on a terminal what is here.\n\n" +
		"An error keeps the schema from being compiled; one of an analyzer is a mistake in Go code. A warning says that something is likely to go wrong. An info is worth\n" +
		"knowing: a compiler that refuses the file, a name that changed.\n")
	of, err := byStage(rules)
	if err != nil {
		return nil, err
	}
	for n, s := range stages {
		if len(of[n]) > 0 {
			overview(&b, s.title, of[n])
		}
	}
	for n, s := range stages {
		if len(of[n]) > 0 {
			fmt.Fprintf(&b, "\n## %s\n", s.title)
		}
		for _, r := range of[n] {
			rule(&b, r)
		}
	}
	return b.Bytes(), nil
}

// byStage sorts rules into the parts of the page.
func byStage(rules []*diag.Rule) (of [][]*diag.Rule, err error) {
	of = make([][]*diag.Rule, len(stages))
next:
	for _, r := range rules {
		for n, s := range stages {
			if strings.HasPrefix(string(r.Code), s.prefix) {
				of[n] = append(of[n], r)
				continue next
			}
		}
		return nil, fmt.Errorf("%s belongs to no part of the page", r.Code)
	}
	return of, nil
}

func overview(b *bytes.Buffer, title string, rules []*diag.Rule) {
	fmt.Fprintf(b, "\n| %s | | | |\n|---|---|---|---|\n", title)
	for _, r := range rules {
		fmt.Fprintf(b, "| [%s](#%s) | %s | %s | %s |\n", r.Code, anchor(r), r.Name, r.Severity, strings.ReplaceAll(plain(r.Title), "|", `\|`))
	}
}

// anchor is what a heading's link is called: its text in lower case, with - for spaces.
func anchor(r *diag.Rule) string { return strings.ToLower(string(r.Code)) + "-" + r.Name }

func rule(b *bytes.Buffer, r *diag.Rule) {
	fmt.Fprintf(b, "\n### %s %s\n\n%s: %s.\n", r.Code, r.Name, capital(r.Severity.String()), plain(r.Title))
	for paragraph := range strings.SplitSeq(strings.TrimSpace(r.Why), "\n\n") {
		fmt.Fprintf(b, "\n%s\n", plain(paragraph))
	}
	for _, x := range []struct{ title, text string }{{"Wrong", r.Wrong}, {"Right", r.Right}} {
		if x.text != "" {
			fmt.Fprintf(b, "\n%s:\n\n```\n%s\n```\n", x.title, strings.TrimRight(x.text, "\n"))
		}
	}
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// plain makes a text mean itself in Markdown, but for `code`.
func plain(text string) string {
	parts := strings.Split(text, "`")
	for n := 0; n < len(parts); n += 2 {
		parts[n] = special.Replace(parts[n])
	}
	return strings.Join(parts, "`")
}

var special = strings.NewReplacer(`\`, `\\`, "<", `\<`, ">", `\>`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`)
