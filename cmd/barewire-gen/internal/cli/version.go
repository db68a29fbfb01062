package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version of this command",
		Example: "  barewire-gen version",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.format == report.JSON {
				return a.writeJSON(struct {
					Version string `json:"version"`
					Go      string `json:"go"`
					OS      string `json:"os"`
					Arch    string `json:"arch"`
				}{buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH})
			}
			fmt.Fprintf(a.out, "%s %s %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

// buildVersion is what the go command knows about this binary: its module
// version, and the revision where it was built in a checkout.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return tool + " (unknown version)"
	}
	v := tool + " " + info.Main.Version
	var revision, modified string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	if revision != "" {
		v += " (" + revision[:min(12, len(revision))] + modified + ")"
	}
	return v
}

// version is the module version alone; empty where it is not known.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(cmd, "unexpected argument `%s`", args[0])
	}
	return nil
}

// writeJSON writes a result as one document.
func (a *app) writeJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
