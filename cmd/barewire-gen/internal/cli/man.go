package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) manCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "man [command]",
		Short: "Write manual pages",
		Long: `Man writes the manual page of a command, or the one that leads to the others, to
the standard output; with --out the pages of all commands, into a directory.`,
		Example: "  barewire-gen man generate | man -l -\n  barewire-gen man --out man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if out == "" {
				topic, rest, err := root.Find(args)
				if err != nil || len(args) > 0 && topic == root || len(rest) > 0 {
					return unknown("command", strings.Join(args, " "), commandNames(root), cmd)
				}
				_, err = a.out.Write(manPage(topic))
				return err
			}
			if len(args) > 0 {
				return usagef(cmd, "--out writes all pages, so `%s` cannot choose one", args[0])
			}
			return a.manPages(root, out)
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return commandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the pages of all commands into this `directory`")
	return cmd
}

// manPages writes every page, each over an older one only if that is ours.
func (a *app) manPages(root *cobra.Command, dir string) error {
	pages := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			pages = append(pages, c)
		}
	}
	if err := os.MkdirAll(a.path(dir), 0o777); err != nil {
		return plainError(err)
	}
	var outputs []*output
	for _, c := range pages {
		o := &output{shown: filepath.Join(dir, pageName(c)+".1"), content: manPage(c)}
		o.path = a.path(o.shown)
		if _, err := os.Stat(o.path); err == nil {
			if err := o.loadAny(); err != nil {
				return err
			}
			if first, _, _ := bytes.Cut(o.old, []byte("\n")); string(first) != manHead {
				return fmt.Errorf("%s was not written by %s; remove it first", o.shown, tool)
			}
		}
		outputs = append(outputs, o)
	}
	if err := write(outputs); err != nil {
		return err
	}
	a.say("%s in %s", countOf(len(outputs), "page"), dir)
	return nil
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manHead is the first line of our pages.
const manHead = `.\" Written by barewire-gen man.`

// manPage is a command's page, in the macros man(7) that every reader of pages knows.
func manPage(c *cobra.Command) []byte {
	c.InitDefaultHelpFlag()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n.TH %s 1 \"\" \"%s\" \"User Commands\"\n", manHead, strings.ToUpper(roff(pageName(c))), roff(tool))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(c)), roff(lowerFirst(c.Short)))
	use := strings.TrimPrefix(c.UseLine(), c.CommandPath())
	if !c.HasParent() {
		use = " command"
	}
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n%s\n", roff(c.CommandPath()), roff(strings.TrimSpace(use)))
	b.WriteString(".SH DESCRIPTION\n")
	manText(&b, c.Long)
	if !c.HasParent() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(pageName(sub)), roff(sub.Short))
			}
		}
	}
	manFlags(&b, "OPTIONS", c.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	if c.HasParent() {
		b.WriteString(".SH EXIT STATUS\n0 clean, 1 findings or a difference, 2 usage, configuration or input/output, 3 a bug in " + roff(tool) + ".\n")
	}
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n.nf\n" + roff(c.Example) + "\n.fi\n")
	}
	b.WriteString(".SH SEE ALSO\n")
	if c.HasParent() {
		fmt.Fprintf(&b, ".BR %s (1)\n", roff(pageName(c.Root())))
	} else {
		b.WriteString("https://" + roff(modulePath) + "\n")
	}
	return b.Bytes()
}

// manText writes paragraphs. Those that are indented stand as they are.
func manText(b *bytes.Buffer, text string) {
	for i, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(p, "  ") {
			b.WriteString(".nf\n" + roff(p) + "\n.fi\n")
		} else {
			b.WriteString(roff(p) + "\n")
		}
	}
}

func manFlags(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	b.WriteString(".SH " + title + "\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := `\fB\-\-` + roff(f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB\-` + roff(f.Shorthand) + `\fR, ` + name
		}
		if value != "" {
			name += ` \fI` + roff(value) + `\fR`
		}
		switch f.DefValue {
		case "", "false", "0", "[]", "true":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", name, roff(usage))
	})
}

// roff is text for the formatter: what it would take for a command, a hyphen or a quote
// of its own is escaped.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
