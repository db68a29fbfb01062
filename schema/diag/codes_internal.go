package diag

// Internal is a fault of the compiler itself.
const Internal Code = "BW9001"

var _ = register(Rule{
	Code: Internal, Name: "internal", Severity: Error,
	Title: "the compiler has a bug",
	Why:   "The schema was accepted and then something that must hold did not. The fault is in barewire-gen, not in the schema.",
})
