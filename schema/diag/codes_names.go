package diag

// Names in the generated Go.
const (
	GoNameClash    Code = "BW1301"
	BadGoName      Code = "BW1302"
	GoNameChanged  Code = "BW1303"
	BadPackageName Code = "BW1304"
	NoPackageName  Code = "BW1305"
	UnknownRename  Code = "BW1306"
	GoTooLarge     Code = "BW1307"
)

var _ = register(
	Rule{
		Code: GoNameClash, Name: "go-name-clash", Severity: Error,
		Title: "two names of the schema become one name in Go",
		Why: "Fields, values and types get Go's exported form with Go's initialisms: user_id and userId are both UserID. " +
			"A Go package, a struct or a set of constants can have a name only once. Rename one of the two, give one a Go name " +
			"of its own with #@go(name=…), or, for a file that may not be edited, with --rename.",
		Wrong: "type User struct {\n  user_id: u32\n  userId:  u32\n}\n",
		Right: "type User struct {\n  user_id: u32\n  #@go(name=OldUserID)\n  userId:  u32\n}\n",
	},
	Rule{
		Code: BadGoName, Name: "bad-go-name", Severity: Error,
		Title: "a name given for Go cannot be used in Go",
		Why: "A name given with #@go(name=…) or --rename is used as it is. It must be an exported Go identifier " +
			"(a capital letter, then letters, digits and _), and for a field not the name of a method of the generated type.",
		Wrong: "type User struct {\n  #@go(name=type)\n  kind: u8\n}\n",
		Right: "type User struct {\n  #@go(name=Type)\n  kind: u8\n}\n",
	},
	Rule{
		Code: GoNameChanged, Name: "go-name-changed", Severity: Info,
		Title: "a name in Go has a suffix, since its plain form is taken",
		Why: "The generated types have methods (Equal, Clone, MarshalBinary, …), and views must not have methods that make them " +
			"fit an interface by accident (String, Error, Len, …). A field or accessor that would have such a name gets the " +
			"suffix Field, and so does what is named after it (ErrorField, SetErrorField). A name that is made from others (UserView, DepartmentSales) and meets a name of the schema gets " +
			"the suffix _. #@go(name=…) gives another name.",
		Wrong: "type Line struct {\n  equal: bool\n}\n",
		Right: "type Line struct {\n  #@go(name=Same)\n  equal: bool\n}\n",
	},
	Rule{
		Code: BadPackageName, Name: "bad-package-name", Severity: Error,
		Title: "the package name is not a Go identifier",
		Why: "The name from --package or #@package stands in the package clause of the generated files. It must be a Go " +
			"identifier, no keyword, and not _.",
		Wrong: "#@package(func)\n",
		Right: "#@package(telemetry)\n",
	},
	Rule{
		Code: NoPackageName, Name: "no-package-name", Severity: Error,
		Title: "nothing says which Go package the code belongs to",
		Why: "The package name comes from --package, from #@package in the schema, from the Go files in the output directory, " +
			"or from that directory's name. None of them gave one.",
		Right: "#@package(telemetry)\n",
	},
	Rule{
		Code: UnknownRename, Name: "unknown-rename", Severity: Error,
		Title: "--rename names something that the schema does not have",
		Why: "The left side of --rename Old=New is a type (User), a field, member or value with its type in front " +
			"(User.user_id), or the Go name of a type that has no name in the schema (UserAddress).",
	},
	Rule{
		Code: GoTooLarge, Name: "go-too-large", Severity: Error,
		Title: "the type is larger in Go than a value may be",
		Why: "Lists and data of a fixed length become Go arrays, so that a value has all its elements in one piece. " +
			"At most 256 MiB of memory can be in one. Use a list without a fixed length, or split the type.",
		Wrong: "type Big list<str>[100000000]\n",
		Right: "type Big list<str>\n",
	},
)
