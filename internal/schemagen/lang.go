package schemagen

// Lang says what a random schema may contain. The zero Lang is all of BARE.
// Each restriction is there because a peer cannot do it, or does it wrong.
type Lang struct {
	Prefix string // of every type name, so that many schemas can share a package
	Decls  int    // at most so many declarations; 0 is 6
	Depth  int    // nesting of one declaration; 0 is 4

	// What go-bare's generator cannot do; the numbers are those of the table in the difftest package.
	NoAnonymous       bool // G21: anonymous enums and unions (structs are fine)
	OnlyNamedMembers  bool // G21: only declared types in unions
	OneUnionPerType   bool // G14
	UniqueValues      bool // G15, G16: no two enums share a value's name
	NoOptionalAlias   bool // G20: nor anything else that becomes a pointer or an interface in Go
	NoPointersInMaps  bool // G1: a map's value keeps what the entry before it had
	FixedEnums        bool // enums of the old dialect with a fixed kind
	MaxNumber         uint64
	NoExoticFloats    bool // NaN, whose bits peers change or refuse, and infinities
	NoNestedOptionals bool // bare-ts has one null for both levels
	NoDataKeys        bool // bare-ts 0.16 refuses them
	CamelCase         bool // bare-ts 0.16 wants camelCase fields
	PlainFields       bool // G17, G27: no field called decode or like a word of the language
	Forward           bool // sometimes use before definition
	NoAnnotations     bool // no #@max and #@pad
	ShortLists        bool // at most 3 elements anywhere
}

// GoBare is what go-bare's generator and codec can do without their faults.
func GoBare() Lang {
	return Lang{
		NoAnonymous: true, OnlyNamedMembers: true, OneUnionPerType: true, UniqueValues: true,
		NoOptionalAlias: true, NoPointersInMaps: true, FixedEnums: true, PlainFields: true,
		MaxNumber: 1<<32 - 1, NoExoticFloats: true, CamelCase: true, NoAnnotations: true,
	}
}

// BareTS is what bare-ts 0.16 accepts. Legacy adds the old dialect and use
// before definition; print it as Mixed or Old.
func BareTS(legacy bool) Lang {
	return Lang{
		MaxNumber: 1<<53 - 1, NoExoticFloats: true, NoNestedOptionals: true, NoDataKeys: true,
		CamelCase: true, Forward: legacy,
	}
}
