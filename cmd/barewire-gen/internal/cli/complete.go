package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/view"
	"github.com/fidelityframework/barewire-gen/schema"
)

// completeTypes completes names of types behind the schemas that are on the command
// line already. A schema with errors has none to offer.
func (a *app) completeTypes(cmd *cobra.Command, args []string, word string) (words []string, _ cobra.ShellCompDirective) {
	var schemas []string
	for _, arg := range args {
		if a.looksLikeSchema(arg) {
			schemas = append(schemas, arg)
		}
	}
	if len(schemas) == 0 {
		return []string{"bare"}, cobra.ShellCompDirectiveFilterFileExt
	}
	files, err := a.load(cmd, schemas, false)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	s, _ := schema.Compile(files, schema.Options{})
	if s == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for _, d := range view.Decls(s) {
		if strings.HasPrefix(d.Name, word) {
			doc := d.Type.Short()
			if len(d.Doc) > 0 {
				doc = strings.TrimSpace(d.Doc[0])
			}
			words = append(words, d.Name+"\t"+doc)
		}
	}
	return words, cobra.ShellCompDirectiveDefault
}

// complete says what the arguments and flags of commands can be, for shells.
func (a *app) complete(root *cobra.Command) {
	words := func(of ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp)
	}
	schemas := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"bare"}, cobra.ShellCompDirectiveFilterFileExt
	}
	formats := namesOf(report.Formats)
	flags := map[string]cobra.CompletionFunc{
		"format": words(formats...), "color": words("auto", "always", "never"), "spec": words("11", "12", "13", "14"),
		"from": words("bytes", "hex", "json"), "to": words("text", "json", "bytes", "hex"),
		"only": words("source", "wire", "memory"),
	}
	each := func(c *cobra.Command) {
		for name, f := range flags {
			if c.LocalFlags().Lookup(name) != nil {
				// It fails only where there is one already.
				_ = c.RegisterFlagCompletionFunc(name, f)
			}
		}
		if c.ValidArgsFunction != nil {
			return
		}
		switch c.Name() {
		case "layout", "inspect":
			c.ValidArgsFunction = a.completeTypes
		case "generate", "check", "fmt", "lint", "compat", "doc":
			c.ValidArgsFunction = schemas
		}
	}
	each(root)
	for _, c := range root.Commands() {
		each(c)
	}
}
