package cli

import (
	"strings"

	"github.com/spf13/cobra"

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
