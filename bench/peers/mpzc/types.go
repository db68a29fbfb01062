// Package mpzc is msgp v1.6.5 with zerocopy fields. types_gen.go is what msgp emitted.
package mpzc

//go:generate msgp -tests=false -marshal=true -io=false

//msgp:tuple AT

// AT: msgp's zerocopy tag exists for []byte fields only, so the strings are bytes.
type AT struct {
	Name     []byte `msg:"name,zerocopy"`
	BirthDay int64
	Phone    []byte `msg:"phone,zerocopy"`
	Siblings int
	Spouse   bool
	Money    float64
}
