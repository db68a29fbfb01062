package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// The parts of SARIF 2.1.0 that are written, in the names of the standard (OASIS, 27 March 2020). Columns are
// in UTF-16 code units, its default, and an end is the column behind the last one.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string               `json:"columnKind"`
		Bases      map[string]sarifBase `json:"originalUriBaseIds,omitempty"`
		Results    []sarifResult        `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		Name             string    `json:"name"`
		ShortDescription sarifText `json:"shortDescription"`
		FullDescription  sarifText `json:"fullDescription"`
		Help             sarifText `json:"help"`
		HelpURI          string    `json:"helpUri"`
		Default          struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		CodeFlows    []sarifCodeFlow   `json:"codeFlows,omitempty"`
		Fixes        []sarifFix        `json:"fixes,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifBase struct {
		Description sarifText `json:"description"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifCodeFlow struct {
		ThreadFlows []sarifThreadFlow `json:"threadFlows"`
	}
	sarifThreadFlow struct {
		Locations []sarifStep `json:"locations"`
	}
	sarifStep struct {
		Location sarifLocation `json:"location"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

const (
	home        = "https://github.com/fidelityframework/barewire-gen"
	fingerprint = "barewire/v1"
)

func writeSARIF(buf *bytes.Buffer, l diag.List, o Options) {
	run := sarifRun{ColumnKind: "utf16CodeUnits", Results: make([]sarifResult, 0, len(l))}
	run.Tool.Driver = sarifDriver{Name: o.Tool, Version: o.Version, InformationURI: home, Rules: []sarifRule{}}
	if o.Git != "" {
		run.Bases = map[string]sarifBase{o.Git: {sarifText{Text: "the files as git has them at " + o.Git}}}
	}
	index := map[diag.Code]int{}
	seen := map[string]int{}
	for _, d := range l {
		if _, ok := index[d.Code]; !ok {
			index[d.Code] = len(index)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(d.Code.Rule()))
		}
		r := sarifResultOf(d, o)
		r.RuleIndex = index[d.Code]
		id := identity(d, o.Scope)
		seen[id]++ // several alike are told apart by their order
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", id, seen[id]))
		r.Fingerprints = map[string]string{fingerprint: hex.EncodeToString(sum[:16])}
		run.Results = append(run.Results, r)
	}
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	// Encoding strings and integers into memory cannot fail.
	_ = enc.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// identity is what stays of a finding when lines move: its rule, where it is by name, and what it is about.
func identity(d *diag.Diagnostic, scope func(*diag.Diagnostic) string) string {
	where := ""
	if scope != nil {
		where = scope(d)
	} else if d.Primary.Span.IsValid() {
		where = filepath.ToSlash(d.Primary.Span.File.Name())
	}
	return string(d.Code) + "\x00" + where + "\x00" + subject(d.Message)
}

// subject is the first name that a message quotes, without spaces; where there is none it is the message without its numbers.
func subject(message string) string {
	if parts := strings.SplitN(message, "`", 3); len(parts) == 3 {
		return strings.Join(strings.Fields(parts[1]), "")
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, message)
}

func sarifRuleOf(r *diag.Rule) sarifRule {
	rule := sarifRule{
		ID: string(r.Code), Name: r.Name, ShortDescription: sarifText{Text: r.Title}, FullDescription: sarifText{Text: r.Why},
		HelpURI: Rules + "#" + strings.ToLower(string(r.Code)) + "-" + r.Name,
	}
	rule.Default.Level = sarifLevel(r.Severity)
	help := sarifText{Text: r.Why, Markdown: r.Why}
	for _, x := range []struct{ title, text string }{{"Wrong", r.Wrong}, {"Right", r.Right}} {
		if x.text != "" {
			text := strings.TrimRight(x.text, "\n")
			help.Text += "\n\n" + x.title + ":\n\n" + text
			help.Markdown += "\n\n" + x.title + ":\n\n```\n" + text + "\n```"
		}
	}
	rule.Help = help
	return rule
}

func sarifLevel(s diag.Severity) string {
	switch s {
	case diag.Error:
		return "error"
	case diag.Warning:
		return "warning"
	}
	return "note"
}

// sarifResultOf is one finding. With Flows, the other places are the path that leads to it.
func sarifResultOf(d *diag.Diagnostic, o Options) sarifResult {
	r := sarifResult{RuleID: string(d.Code), Level: sarifLevel(d.Severity), Message: sarifText{Text: escaped.Replace(d.Message)}}
	if d.Primary.Span.IsValid() {
		r.Locations = []sarifLocation{{Physical: physical(d.Primary.Span).at(o.Git, d.Primary.Span.File)}}
	}
	for _, l := range d.Related {
		if !l.Span.IsValid() {
			continue
		}
		id := len(r.Related) + 1
		r.Related = append(r.Related, sarifLocation{ID: id, Physical: physical(l.Span).at(o.Git, l.Span.File), Message: message(l.Text)})
		// GitHub shows only what a message links to.
		r.Message.Text += fmt.Sprintf("; [%s](%d)", escaped.Replace(l.Text), id)
	}
	for _, text := range slices.Concat(d.Notes, d.Help) {
		r.Message.Text += "\n" + escaped.Replace(text)
	}
	if o.Flows && len(r.Related) > 0 && len(r.Locations) > 0 {
		r.CodeFlows = []sarifCodeFlow{{ThreadFlows: []sarifThreadFlow{{Locations: steps(d)}}}}
	}
	for _, f := range d.Fixes {
		if fix := sarifFixOf(f); len(fix.Changes) > 0 {
			r.Fixes = append(r.Fixes, fix)
		}
	}
	return r
}

// escaped keeps the text of a message from being taken for links (section 3.11.6 of the standard).
var escaped = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`)

func message(text string) *sarifText { return &sarifText{Text: escaped.Replace(text)} }

// steps is the path: the related places in their order, and the finding itself before them where
// it comes first in their file, else behind them.
func steps(d *diag.Diagnostic) (path []sarifStep) {
	step := func(s source.Span, text string) sarifStep {
		return sarifStep{sarifLocation{Physical: physical(s), Message: message(text)}}
	}
	self, first := d.Primary.Span, true
	for _, l := range d.Related {
		if !l.Span.IsValid() {
			continue
		}
		if len(path) == 0 && (l.Span.File != self.File || l.Span.Start <= self.Start) {
			first = false
		}
		path = append(path, step(l.Span, l.Text))
	}
	if first {
		return append([]sarifStep{step(self, d.Message)}, path...)
	}
	return append(path, step(self, d.Message))
}

func sarifFixOf(f diag.Fix) sarifFix {
	fix := sarifFix{Description: sarifText{Text: f.Text}}
	for _, e := range f.Edits {
		if !e.Span.IsValid() {
			continue
		}
		at := physical(e.Span)
		i := slices.IndexFunc(fix.Changes, func(c sarifChange) bool { return c.Artifact == at.Artifact })
		if i < 0 {
			i = len(fix.Changes)
			fix.Changes = append(fix.Changes, sarifChange{Artifact: at.Artifact})
		}
		fix.Changes[i].Replacements = append(fix.Changes[i].Replacements, sarifReplacement{at.Region, sarifText{Text: e.New}})
	}
	return fix
}

func physical(s source.Span) sarifPhysical {
	from, to := s.File.Position(s.Start, source.UTF16), s.File.Position(s.End, source.UTF16)
	return sarifPhysical{sarifArtifact{URI: uri(s.File.Name())}, sarifRegion{from.Line, from.Column, to.Line, to.Column}}
}

// at is the place in a file that git has at a ref, whose name says so: no such file is on disk.
func (p sarifPhysical) at(ref string, f *source.File) sarifPhysical {
	if path, ok := strings.CutPrefix(f.Name(), ref+":"); ok && ref != "" {
		p.Artifact = sarifArtifact{uri(path), ref}
	}
	return p
}

// uri is a file's name as a URI: relative to where the command ran, as the name is.
func uri(name string) string {
	u := url.URL{Path: filepath.ToSlash(name)}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path // C:/x
		}
	}
	return u.String()
}

// Rules is the page that explains every code; a rule's heading is its code and its name.
const Rules = home + "/blob/main/docs/codes.md"
