package diag

// What commands are asked about bytes and versions: no fault of a schema.
const (
	MessageRefused Code = "BW6001"
	LayoutDiffers  Code = "BW6002"
	FileDiffers    Code = "BW6003"
)

var _ = register(
	Rule{
		Code: MessageRefused, Name: "message-refused", Severity: Error,
		Title: "bytes are no message of the type, or JSON is no value of it",
		Why: "Inspect reads as strictly as generated code does: a length or tag takes as few bytes as it can, a bool is 0 or 1, text is UTF-8, " +
			"an enum has a value that is declared, and no byte is left over. The message says which field was being read and at which byte reading " +
			"stopped. Often the bytes are those of another version of the schema, or of another type, or were cut.",
	},
	Rule{
		Code: LayoutDiffers, Name: "layout-differs", Severity: Warning,
		Title: "a type or a field lies otherwise than in the older version",
		Why: "Layout with --diff was asked to show this. The layout is the wire's, so old messages are read otherwise now, and peers that map or reach " +
			"memory of the other version see other bytes. Compat says whom it breaks, and what to do instead.",
	},
	Rule{
		Code: FileDiffers, Name: "file-differs", Severity: Warning,
		Title: "a file is not as the command would write it",
		Why: "Generate with --check, and fmt with -l or -d, were asked to say this: the generated Go is that of another schema, or was edited, or is " +
			"missing; or the schema is not in the standard form. The place is that of the first line that differs. Text shows the difference, and the " +
			"command without the flag, or fmt with -w, writes the file.",
	},
)
