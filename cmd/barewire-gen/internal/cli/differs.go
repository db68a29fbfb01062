package cli

import (
	"bytes"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// differs says that a file is not what the command would write, at the first line that is another. Formats that have
// findings and nothing else say it so: who reads an exit code of 1 wants to know where and why.
func (o *output) differs(what, help string) *diag.Diagnostic {
	at := source.Span{File: source.NewFile(o.shown, o.old)}
	at.Start, at.End = firstDifference(o.old, o.content)
	return diag.Errorf(diag.FileDiffers, at, "%s", what).Helpf("%s", help)
}

// firstDifference is the line of old, without its end, where now begins to be another.
func firstDifference(old, now []byte) (start, end int) {
	same := 0
	for same < min(len(old), len(now)) && old[same] == now[same] {
		same++
	}
	start, end = bytes.LastIndexByte(old[:same], '\n')+1, len(old)
	if i := bytes.IndexByte(old[same:], '\n'); i >= 0 {
		end = same + i
	}
	return start, end
}

// stale says that generated code is not what generate would write. Of a file that is missing the place is the schema.
func (o *output) stale(files []*source.File) *diag.Diagnostic {
	help := "run `" + tool + " generate` without --check"
	if o.exists {
		return o.differs("this is not what generate makes of "+o.from, help)
	}
	var at source.Span
	for _, f := range files {
		if f.Name() == o.from {
			at.File = f
		}
	}
	return diag.Errorf(diag.FileDiffers, at, "%s is missing, which generate makes of this schema", o.shown).Helpf("%s", help)
}
