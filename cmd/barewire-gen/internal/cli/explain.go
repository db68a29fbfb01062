package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/terminal"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

func (a *app) explainCommand() *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "explain [code or name]...",
		Short: "Explain a code that a diagnostic carries",
		Long: `Explain shows the rule behind a code: what is wrong, why it matters, and an
example with and without the fault. With --list, or without an argument, it lists
all rules, one a line: code, severity, name, title.`,
		Example: "  barewire-gen explain BW1104\n  barewire-gen explain duplicate-field\n  barewire-gen explain --list",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ruleWords(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			rules := diag.Rules()
			if list && len(args) > 0 {
				return usagef(cmd, "--list shows all rules, so `%s` cannot choose one", args[0])
			}
			if len(args) > 0 {
				rules = nil
			}
			for _, arg := range args {
				r, ok := lookup(arg)
				if !ok {
					return unknownRule(cmd, arg)
				}
				rules = append(rules, r)
			}
			if a.format == report.JSON {
				return a.writeJSON(ruleDocs(rules))
			}
			if len(args) == 0 {
				a.listRules(rules)
				return nil
			}
			for i, r := range rules {
				if i > 0 {
					fmt.Fprintln(a.out)
				}
				a.explain(r)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list all rules, one a line")
	return cmd
}

// lookup finds a rule as people write it: BW1104, [BW1104], 1104, duplicate-field.
func lookup(arg string) (*diag.Rule, bool) {
	word := strings.Trim(arg, "[]")
	if r, ok := diag.Lookup(word); ok {
		return r, true
	}
	return diag.Lookup("BW" + word)
}

func unknownRule(cmd *cobra.Command, arg string) error {
	if n := nearest(arg, ruleWords()); n != "" {
		return usagef(cmd, "unknown code `%s`; did you mean `%s`?", arg, n)
	}
	return usagef(cmd, "unknown code `%s`; `%s` lists all", arg, cmd.CommandPath())
}

func ruleWords() (words []string) {
	for _, r := range diag.Rules() {
		words = append(words, string(r.Code), r.Name)
	}
	return words
}

// listRules writes a rule a line. In a terminal that is too narrow for one, its title goes on in the title's column.
func (a *app) listRules(rules []*diag.Rule) {
	rows := make([][]string, len(rules))
	for i, r := range rules {
		rows[i] = []string{string(r.Code), r.Severity.String(), r.Name, r.Title}
	}
	a.columns(rows)
}

// columns writes rows of cells below each other. The last cell takes what is left of the terminal's width.
func (a *app) columns(rows [][]string) {
	var w []int
	for _, r := range rows {
		for i, cell := range r[:len(r)-1] {
			if i == len(w) {
				w = append(w, 0)
			}
			w[i] = max(w[i], len(cell))
		}
	}
	for _, r := range rows {
		var lead strings.Builder
		for i, n := range w {
			fmt.Fprintf(&lead, "%-*s  ", n, r[i])
		}
		last, indent := r[len(r)-1], lead.Len()
		if n := terminal.Columns(a.screen); n > 0 {
			if n-indent < narrow {
				last = "\n  " + terminal.Wrap(last, n-2, "  ")
			} else {
				last = terminal.Wrap(last, n-indent, strings.Repeat(" ", indent))
			}
		}
		fmt.Fprintln(a.out, strings.TrimRight(lead.String()+last, " "))
	}
}

const (
	longLine = 80 // columns of what explain says at most
	narrow   = 20 // columns that a last column takes at least; else it stands on the next line
)

func (a *app) explain(r *diag.Rule) {
	width := min(terminal.Prose(a.screen), longLine)
	fmt.Fprintf(a.out, "%s %s (%s)\n%s\n", r.Code, r.Name, r.Severity, prose(r.Title, width))
	for paragraph := range strings.SplitSeq(strings.TrimSpace(r.Why), "\n\n") {
		if paragraph != "" {
			fmt.Fprintf(a.out, "\n%s\n", prose(paragraph, width))
		}
	}
	for _, x := range []struct{ title, text string }{{"Wrong", r.Wrong}, {"Right", r.Right}} {
		if x.text != "" {
			fmt.Fprintf(a.out, "\n%s:\n\n%s\n", x.title, indent(x.text))
		}
	}
}

// prose breaks a paragraph into lines of at most width columns. One with lines that are indented is an example, or a
// list, and stays as it is.
func prose(s string, width int) string {
	if slices.ContainsFunc(strings.Split(s, "\n"), func(l string) bool { return strings.HasPrefix(l, "  ") }) {
		return s
	}
	return terminal.Wrap(strings.Join(strings.Fields(s), " "), width, "")
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}

type ruleDoc struct {
	Code     diag.Code `json:"code"`
	Name     string    `json:"name"`
	Severity string    `json:"severity"`
	Title    string    `json:"title"`
	Why      string    `json:"why,omitempty"`
	Wrong    string    `json:"wrong,omitempty"`
	Right    string    `json:"right,omitempty"`
}

func ruleDocs(rules []*diag.Rule) any {
	docs := make([]ruleDoc, len(rules))
	for i, r := range rules {
		docs[i] = ruleDoc{r.Code, r.Name, r.Severity.String(), r.Title, r.Why, r.Wrong, r.Right}
	}
	return struct {
		Version int       `json:"version"`
		Rules   []ruleDoc `json:"rules"`
	}{report.DocumentVersion, docs}
}
