package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// helpCommand is cobra's, but for one thing: a topic that does not exist is an
// error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		Short:   "Show help for a command",
		Example: "  barewire-gen help compat",
		// Help must work whatever the other flags say.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			topic, rest, err := root.Find(args)
			if err != nil || topic == nil || len(args) > 0 && (topic == root || len(rest) > 0) {
				return unknown("help topic", strings.Join(args, " "), commandNames(root), cmd)
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// completionCommand writes completion scripts.
func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Write a completion script for a shell",
		Long:      "Completion writes a script that completes commands, flags, names of types and codes.",
		Example:   "  barewire-gen completion bash > /etc/bash_completion.d/barewire-gen",
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(cmd, "name one shell: %s", strings.Join(shells, ", "))
			}
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
			return unknown("shell", args[0], shells, cmd)
		},
	}
}
