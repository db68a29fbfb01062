package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/lsp"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
)

func (a *app) lspCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors over the Language Server Protocol",
		Long: `Lsp speaks the Language Server Protocol over the standard input and output, for
an editor that starts it: diagnostics while one types, definition, references,
rename, hover with the layout, completion, formatting, changes that mend what
was found, outline and colors. Pages on how to set editors up are in
docs/editors.

The exit code is 0 if the editor said shutdown and exit, 1 if the session ended
otherwise, and 2 if nothing could be written any more.`,
		Example: "  barewire-gen lsp",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			orderly, err := lsp.Serve(cmd.Context(), a.in, a.out, lsp.Options{Version: version(), Rules: report.Rules})
			switch {
			case errors.Is(err, context.Canceled):
				fmt.Fprintf(a.err, "%s: interrupted\n", tool)
				return errFindings
			case errors.Is(err, syscall.EPIPE), err == nil && !orderly:
				a.say("the editor went without a shutdown")
				return errFindings
			case err != nil:
				fmt.Fprintf(a.err, "%s: %v\n", tool, err)
				return errFindings
			}
			return nil
		},
	}
	// Clients that know several ways to speak say which; there is one here.
	cmd.Flags().Bool("stdio", true, "speak over the standard input and output, the only way there is")
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if on, err := cmd.Flags().GetBool("stdio"); err != nil || !on {
			return errors.Join(err, usagef(cmd, "--stdio is the only way there is"))
		}
		return nil
	}
	return cmd
}
