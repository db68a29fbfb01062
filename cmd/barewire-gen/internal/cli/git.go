package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// gitPrefix begins the name of something that git has: git:v1.2, git:HEAD:proto.
const gitPrefix = "git:"

// fromGit reads schemas as git has them at a ref: those that the arguments name,
// or what a path, which counts from the top of the repository, names.
func (a *app) fromGit(cmd *cobra.Command, spec string, args []string) ([]*source.File, error) {
	ref, below, hasPath := strings.Cut(spec, ":")
	if ref == "" {
		return nil, usagef(cmd, "git: no ref is named, as in git:HEAD or git:v1.2:proto")
	}
	if !hasPath {
		a.inRepositoryOf(args)
	}
	commit, err := a.git(cmd, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return nil, a.noCommit(cmd, ref, err)
	}
	a.ref = ref
	at := strings.TrimSpace(string(commit))
	if hasPath {
		p := path.Clean(below)
		if !a.gitHas(cmd, at, p) {
			return nil, a.missing(cmd, ref, at, p)
		}
		return a.gitFiles(cmd, ref, at, []string{p})
	}
	var paths []string
	for _, arg := range args {
		if arg == stdinArg {
			return nil, usagef(cmd, "git has no standard input; name a path, as in git:%s:telemetry.bare", ref)
		}
		p, err := a.inRepository(cmd, arg)
		if err != nil {
			return nil, err
		}
		if !a.gitHas(cmd, at, p) {
			return nil, a.missing(cmd, ref, at, p)
		}
		paths = append(paths, p)
	}
	return a.gitFiles(cmd, ref, at, paths)
}

// inRepositoryOf has git work in the repository of files that are named from the root of the system, wherever the command works.
func (a *app) inRepositoryOf(args []string) {
	if slices.ContainsFunc(args, func(arg string) bool { return !filepath.IsAbs(arg) }) {
		return
	}
	a.gitDir = args[0]
	if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
		a.gitDir = filepath.Dir(args[0])
	}
}

// gitHas reports whether a commit has a file or a directory.
func (a *app) gitHas(cmd *cobra.Command, commit, p string) bool {
	_, kind, err := a.gitObject(cmd, commit, p)
	return err == nil && (kind == "blob" || kind == "tree")
}

// gitObject is what a commit has at a path, where a symbolic link stands for what it leads to: git keeps the link itself,
// whose text is no schema.
func (a *app) gitObject(cmd *cobra.Command, commit, p string) (id, kind string, err error) {
	if p == "." {
		p = ""
	}
	name := commit + ":" + p
	if p == "" || strings.Contains(p, "\n") { // the top, and what cannot be asked for in a line
		out, err := a.git(cmd, "cat-file", "-t", name)
		return name, strings.TrimSpace(string(out)), err
	}
	out, err := a.gitFed(cmd, name+"\n", "cat-file", "--batch-check", "--follow-symlinks")
	if err != nil {
		return "", "", err
	}
	first, rest, _ := strings.Cut(strings.TrimRight(string(out), "\n"), "\n")
	words := strings.Fields(first)
	switch {
	case len(words) == 3:
		return words[0], words[1], nil
	case len(words) == 2 && words[0] == "symlink":
		return "", "", fmt.Errorf("it is a symbolic link to %s, which is not in the repository", rest)
	case len(words) == 2 && words[0] == "loop":
		return "", "", errors.New("it is a symbolic link that leads to itself")
	}
	return "", "", errors.New("it is not there, or a symbolic link that leads nowhere")
}

// noCommit says why git knows nothing by a ref.
func (a *app) noCommit(cmd *cobra.Command, ref string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("git is not installed, so there is no git:" + ref)
	case err.Error() != "":
		return fmt.Errorf("git%s", because(err))
	}
	shallow, err := a.git(cmd, "rev-parse", "--is-shallow-repository")
	if err == nil && strings.TrimSpace(string(shallow)) == "true" {
		return fmt.Errorf("git: `%s` is no commit, tag or branch here, where the clone is shallow: `git fetch --unshallow --tags` gets the rest", ref)
	}
	return fmt.Errorf("git: `%s` is no commit, tag or branch here", ref)
}

// missing says what becomes of a path that a commit does not have: it is within a submodule, or new, or was called
// otherwise.
func (a *app) missing(cmd *cobra.Command, ref, commit, p string) error {
	for dir := p; dir != "." && dir != "/" && dir != ""; dir = path.Dir(dir) {
		if list, err := a.git(cmd, "ls-tree", "--full-tree", commit, "--", dir); err == nil && bytes.HasPrefix(list, []byte("160000 ")) {
			return fmt.Errorf("git: %s is a submodule, with commits of its own: compare in it, as in `%s -C %s`", dir, cmd.CommandPath(), dir)
		}
	}
	dir := path.Dir(p)
	names, err := a.gitNames(cmd, commit, strings.TrimPrefix(dir, "."))
	names = slices.DeleteFunc(names, func(name string) bool { return name == p }) // a link that leads nowhere
	if err != nil || len(names) == 0 || path.Ext(p) != ".bare" {
		return fmt.Errorf("git: %s has no %s; if that is new or was renamed, compare its directory, or name what it was: git:%s:PATH", ref, p, ref)
	}
	const most = 3
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	was := "PATH"
	if len(names) == 1 {
		was = names[0]
	}
	return fmt.Errorf("git: %s has no %s, but %s%s; if that is new or was renamed, compare its directory, or name what it was: git:%s:%s",
		ref, p, strings.Join(names, ", "), more, ref, was)
}

// inRepository is a path from the top of the repository.
func (a *app) inRepository(cmd *cobra.Command, name string) (string, error) {
	if filepath.IsAbs(name) {
		top, err := a.git(cmd, "rev-parse", "--show-toplevel")
		if err != nil {
			return "", fmt.Errorf("git: %s%s", name, because(err))
		}
		real, err := filepath.EvalSymlinks(name)
		if err != nil {
			return "", plainError(err)
		}
		rel, err := filepath.Rel(filepath.FromSlash(strings.TrimRight(string(top), "\r\n")), real)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return "", fmt.Errorf("git: %s is not in this repository", name)
		}
		return filepath.ToSlash(rel), nil
	}
	prefix, err := a.git(cmd, "rev-parse", "--show-prefix")
	if err != nil {
		return "", fmt.Errorf("git: %s%s", name, because(err))
	}
	p := path.Join(strings.TrimRight(string(prefix), "\r\n"), filepath.ToSlash(name))
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", fmt.Errorf("git: %s is not in this repository", name)
	}
	return p, nil
}

// gitFiles reads files of a commit; of a directory, its .bare files.
func (a *app) gitFiles(cmd *cobra.Command, ref, commit string, paths []string) (files []*source.File, err error) {
	for _, p := range paths {
		if p == "." {
			p = ""
		}
		names, err := a.gitNames(cmd, commit, p)
		if err != nil {
			return nil, fmt.Errorf("git: %s has no %s%s", ref, orTop(p), because(err))
		}
		for _, name := range names {
			id, _, err := a.gitObject(cmd, commit, name)
			if err != nil {
				return nil, fmt.Errorf("git: %s:%s%s", ref, name, because(err))
			}
			text, err := a.git(cmd, "cat-file", "blob", id)
			if err != nil {
				return nil, fmt.Errorf("git: %s:%s%s", ref, name, because(err))
			}
			files = append(files, source.NewFile(ref+":"+name, text))
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("git: %s:%s: no .bare files in this directory", ref, orTop(p))
		}
	}
	return files, nil
}

func orTop(p string) string {
	if p == "" {
		return "."
	}
	return p
}

// gitNames is a file, or the .bare files of a directory.
func (a *app) gitNames(cmd *cobra.Command, commit, p string) (names []string, err error) {
	id, kind, err := a.gitObject(cmd, commit, p)
	if err != nil {
		return nil, err
	}
	if kind == "blob" {
		return []string{p}, nil
	}
	list, err := a.git(cmd, "ls-tree", "--full-tree", "-z", "--name-only", id) // of the tree as it is, wherever git works
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		if isSchema(name) {
			names = append(names, path.Join(p, name))
		}
	}
	return names, nil
}

// git runs git where the command works, and returns what it writes. It reads only.
func (a *app) git(cmd *cobra.Command, args ...string) ([]byte, error) {
	return a.gitFed(cmd, "", args...)
}

// gitFed is git with something on its standard input.
func (a *app) gitFed(cmd *cobra.Command, in string, args ...string) ([]byte, error) {
	c := exec.CommandContext(cmd.Context(), "git", args...)
	c.Dir, c.Stdin = cmp.Or(a.gitDir, a.dir), strings.NewReader(in)
	c.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &limited{Buffer: &out, left: parser.MaxFile + 1}, &errs
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, errors.New(strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), err
}

// because is the reason of an error in git, where it gives one.
func because(err error) string {
	text := strings.TrimPrefix(err.Error(), "fatal: ")
	if text == "" {
		return ""
	}
	first, _, _ := strings.Cut(text, "\n")
	return ": " + first
}

// limited keeps no more than a schema may have; of a larger one enough for the parser to say so.
type limited struct {
	*bytes.Buffer
	left int
}

// Write keeps what there is room for, and takes all.
func (l *limited) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	l.Buffer.Write(keep)
	return len(p), nil
}
