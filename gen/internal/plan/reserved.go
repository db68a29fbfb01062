package plan

// valueMethods are the methods of generated types. A struct's field cannot
// have one's name.
var valueMethods = namesOf(
	"AppendBinary", "MarshalBinary", "BinarySize", "UnmarshalBinary", "DecodeBinary", "DecodeStream", "Equal", "Clone",
)

// regionMethods are those of types that regions are made of.
var regionMethods = namesOf("BareLayout", "BareCastable", "BareSequence")

// goBareMethods come with --gobare.
var goBareMethods = namesOf("Encode", "Decode", "Marshal", "Unmarshal")

// viewMethods are the methods that views have themselves.
var viewMethods = namesOf("Validate", "Bytes", "Load", "Store")

// wellKnown are method names that mean something to the standard library or to
// go vet. An accessor with such a name would make the view fit an interface by
// accident, or not fit it and fail go vet.
var wellKnown = namesOf(
	"AppendText", "As", "Close", "Error", "Format", "GoString", "GobDecode", "GobEncode", "Is", "Len", "Less",
	"Lock",
	"MarshalJSON", "MarshalText", "MarshalXML", "Peek", "Read", "ReadAt", "ReadByte", "ReadFrom", "ReadRune",
	"Scan", "Seek", "String", "Swap", "UnmarshalJSON", "UnmarshalText", "UnmarshalXML", "Unlock", "UnreadByte",
	"UnreadRune", "Unwrap", "Write", "WriteAt", "WriteByte", "WriteString", "WriteTo",
)
