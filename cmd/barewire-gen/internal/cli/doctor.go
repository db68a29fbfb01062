package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/doctor"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/report"
	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/terminal"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

func (a *app) doctorCommand() *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this machine has for regions: NUMA, CXL, RDMA, GPUs, limits",
		Long: `Doctor reads the system's files and says what memory and devices there are, what
each residency of a schema would get here, and what is missing, with what to do
about it. It only reads. -v adds each fact with the file that says so, and what
no file tells.

With --root it looks at a captured machine: a directory with its sys and proc.
Links are followed within that directory only.`,
		Example: "  barewire-gen doctor\n  barewire-gen doctor --format=json\n  barewire-gen doctor --root captured/",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef(cmd, "doctor takes no arguments; for a captured machine give --root %s", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			m, from, err := a.machine(cmd.Context(), root, cmd.Flags().Changed("root"))
			if err != nil {
				return err
			}
			r := doctor.New(m, from)
			if a.format == report.JSON {
				return a.writeJSON(struct {
					Version int `json:"version"`
					*doctor.Report
				}{report.DocumentVersion, r})
			}
			text, err := r.Text(a.verbose, terminal.Columns(a.screen))
			if err != nil {
				return err
			}
			_, err = a.out.Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&root, "root", "", "look at the machine captured in this `directory`")
	return cmd
}

// captured is a captured machine's tree, of which files and directories can be opened: opening a pipe would wait for
// somebody who writes into it, and a device may have no end.
type captured struct{ fs.FS }

func (c captured) Open(name string) (fs.File, error) {
	if info, err := fs.Stat(c.FS, name); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("neither a file nor a directory")}
	}
	return c.FS.Open(name)
}

func (c captured) Stat(name string) (fs.FileInfo, error)  { return fs.Stat(c.FS, name) }
func (c captured) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(c.FS, name) }
func (c captured) ReadLink(name string) (string, error)   { return fs.ReadLink(c.FS, name) }

// machine reads this machine, or one that was captured.
func (a *app) machine(ctx context.Context, root string, named bool) (*platform.Machine, string, error) {
	if !named {
		m, err := platform.Detect(ctx)
		return m, "this machine", plainError(err)
	}
	dir, err := os.OpenRoot(a.path(root))
	if err != nil {
		return nil, "", fmt.Errorf("--root %s: %w", root, cause(err))
	}
	defer dir.Close()
	_, noSys := dir.Lstat("sys")
	_, noProc := dir.Lstat("proc")
	if errors.Is(noSys, fs.ErrNotExist) && errors.Is(noProc, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("--root %s: there is neither sys nor proc in it, so it is no captured machine", root)
	}
	m, err := platform.DetectFS(ctx, captured{dir.FS()})
	if err != nil {
		return nil, "", fmt.Errorf("--root %s: %w", root, cause(err))
	}
	return m, root, nil
}
