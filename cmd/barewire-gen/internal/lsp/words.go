package lsp

// builtins are the types of the language, with what hover says about them.
var builtins = map[string]string{
	"uint": "a whole number of up to 64 bits, in 1 to 10 bytes: seven bits in each, the low ones first",
	"int":  "a signed number of up to 64 bits, in 1 to 10 bytes: zig-zag, as a uint",
	"u8":   "a whole number, 1 byte", "u16": "a whole number, 2 bytes, little-endian",
	"u32": "a whole number, 4 bytes, little-endian", "u64": "a whole number, 8 bytes, little-endian",
	"i8": "a signed number, 1 byte", "i16": "a signed number, 2 bytes, little-endian",
	"i32": "a signed number, 4 bytes, little-endian", "i64": "a signed number, 8 bytes, little-endian",
	"f32": "a floating-point number, 4 bytes", "f64": "a floating-point number, 8 bytes",
	"bool": "0 or 1, 1 byte",
	"str":  "UTF-8: its length in bytes as a uint, then the bytes. `#@max(N)` limits it",
	"data": "bytes: their number as a uint, then the bytes; `data[n]` is n bytes and no length. `#@max(N)` limits the first",
	"void": "nothing: no bytes. It can be a member of a union",
}

// makers are the words of types that have others in them, with a snippet.
var makers = []struct{ word, snippet, what string }{
	{"optional", "optional<${1:T}>", "one byte, 0 or 1, and after 1 a value"},
	{"list", "list<${1:T}>", "the number of elements as a uint, then the elements; `list<T>[n]` has n elements and no number"},
	{"map", "map<${1:str}><${2:T}>", "the number of entries as a uint, then keys and values"},
	{"struct", "struct {\n  ${1:field}: ${2:u32}\n}", "fields, one behind the other"},
	{"union", "union { ${1:A} | ${2:B} }", "a tag as a uint, then a value of the member with that tag"},
	{"enum", "enum {\n  ${1:VALUE}\n}", "a named number, as a uint"},
}

// keywords are the words that are no names of types.
var keywords = map[string]bool{"type": true, "struct": true, "union": true, "enum": true, "optional": true, "list": true, "map": true, "string": true}

// annotations are the words behind #@, with a snippet and what hover says.
var annotations = []struct{ word, snippet, what string }{
	{"package", "package(${1:name})", "The Go package that this file becomes part of, where no flag says another. At the top of the file."},
	{"residency", "residency(${1:cpu})", "Above a type: where regions of it may live (`cpu`, `numa`, `numa(N)`, `cxl`, `cxl_shared`, `gpu`, `managed`, `unified`); others do not compile. With `fallback=unified` a place that falls back to memory that is coherent for the host."},
	{"register", "register(${1:remote_read})", "Above a type: the most that registered regions of it may grant (`local`, `remote_read`, `remote_write`, `remote_atomic`). Each lesser set can be had."},
	{"align", "align(${1:64})", "Above a type: regions of it start at a multiple of so many bytes, and its size is a multiple of it, or it is an error."},
	{"cacheline", "cacheline", "Above a field: it starts on a cache line of its own, 64 bytes or as many as the argument says, and shares it with nothing that follows, or it is an error."},
	{"atomic", "atomic", "Above a field that is u64, i64, u32 or i32: it is naturally aligned, or it is an error. It gets atomic accessors, and those of 64 bits remote atomics. `#@atomic(sequence)` makes a u64 the sequence that writers of the struct count."},
	{"pad", "pad", "Above a field of type `data[n]`: explicit padding, zero on the wire, hidden from Go."},
	{"max", "max(${1:32})", "Above a field or a type that is a str, data, list or map: at most so many bytes or elements. It makes a type bounded, and encoder and decoder hold to it."},
	{"ref", "ref(${1:Type}, ${2:remote_read})", "Above a field of type `data[48]`: it carries a reference to memory of that type at a peer, with these rights."},
	{"go", "go(name=${1:Name})", "Above what it names: the name in Go."},
}

// arguments are the words that an annotation takes.
var arguments = map[string][]string{
	"residency": {"cpu", "numa", "cxl", "cxl_shared", "gpu", "managed", "unified", "fallback=unified"},
	"register":  {"local", "remote_read", "remote_write", "remote_atomic"},
	"ref":       {"remote_read", "remote_write", "remote_atomic"},
	"atomic":    {"sequence"},
	"go":        {"name="},
}

func annotationText(word string) string {
	for _, a := range annotations {
		if a.word == word {
			return a.what
		}
	}
	return ""
}
