package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/compat"
)

// table is the page of changes in Markdown.
func table(cells []compat.Cell) []byte {
	var b bytes.Buffer
	b.WriteString("<!-- Code generated from schema/compat by " + command + "; DO NOT EDIT. -->\n\n" +
		"# What a change breaks\n\n" +
		"`barewire-gen compat --against` compares two versions of a schema. This is its table: each row is a test, which holds the verdict to\n" +
		"what readers of one version make of messages of the other, and to the names and types of the generated Go; what regions of fixed size look like in memory is held to C structs.\n\n" +
		"SOURCE says whether Go programs may have to change. Under WIRE stand two answers, **new reads old** and **old reads new**: *yes*, every message; *some*, others are refused, and\n" +
		"none is misread; *no*, messages are misread, or all are refused. MEMORY says whether peers that map or reach regions of the two versions see different\n" +
		"things, or refuse each other. A row is a warning where all it says is that old readers refuse some new messages; otherwise one that breaks anything is an error.\n")
	kind := ""
	for _, c := range cells {
		if c.Kind != kind {
			kind = c.Kind
			fmt.Fprintf(&b, "\n| %s | SOURCE | new reads old | old reads new | MEMORY | codes |\n|---|---|---|---|---|---|\n", kind)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", plain(c.Change), breaks(c.Verdict.Source), c.Verdict.NewReadsOld, c.Verdict.OldReadsNew,
			breaks(c.Verdict.Memory), links(c))
	}
	return b.Bytes()
}

func breaks(yes bool) string {
	if yes {
		return "breaks"
	}
	return "same"
}

func links(c compat.Cell) string {
	var list []string
	for _, code := range c.Codes {
		link := fmt.Sprintf("[%s](codes.md#%s)", code, anchor(code.Rule()))
		if len(list) == 0 || list[len(list)-1] != link {
			list = append(list, link)
		}
	}
	return strings.Join(list, " ")
}
