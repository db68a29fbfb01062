package scratch

import (
	"cmp"
	"slices"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Generate compiles schemas that belong together, given as text by file name,
// to Go, as content by file name. The error is what a user would be told.
func Generate(files map[string]string, opts gen.Options) (map[string][]byte, error) {
	var sources []*source.File
	for name, text := range files {
		sources = append(sources, source.NewFile(name, []byte(text)))
	}
	slices.SortFunc(sources, func(a, b *source.File) int { return cmp.Compare(a.Name(), b.Name()) })
	s, diags := schema.Compile(sources, schema.Options{})
	if err := diags.Err(); err != nil {
		return nil, err
	}
	out, err := gen.Go(s, opts)
	if err != nil {
		return nil, err
	}
	code := map[string][]byte{}
	for _, f := range out {
		code[f.Name] = f.Content
	}
	return code, nil
}
