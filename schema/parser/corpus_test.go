package parser

import (
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/corpus"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// refused lists the files of the corpus that have syntax errors, with the first.
var refused = map[string]string{
	"examples/rivet-dev+vbare__fixtures_tests_basic_v2.bare":                                              "1:1: error: comments start with `#`, not with `//` [BW1016]",
	"examples/rivet-dev+vbare__fixtures_tests_basic_v3.bare":                                              "1:1: error: comments start with `#`, not with `//` [BW1016]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_alias-lowercase_schema.bare":                  "1:6: error: a type's name starts with a capital letter [BW1011]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_alias-missing-type_schema.bare":               "1:11: error: expected a type for `Alias`, found the end of the file [BW1005]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_alias-wrong-keyword_schema.bare":              "1:1: error: a declaration starts with `type`, not with `typealias` [BW1006]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_alias-wrong-sep-coma_schema.bare":             "1:11: error: no `,` is needed: white space separates [BW1007]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_alias-wrong-sep-equal_schema.bare":            "1:12: error: no `=` stands between the name and the type [BW1023]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_enum-no-end-delim_schema.bare":                "4:11: error: expected `}` to close the enum, found the end of the file [BW1004]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_enum-no-start-delim_schema.bare":              "1:17: error: expected `{` to open the enum [BW1003]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_enum-val-wrong-sep-semicolon_schema.bare":     "2:10: error: no `;` is needed: white space separates [BW1007]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_list-fixed-hex_schema.bare":                   "1:23: error: `0x4` is not a decimal number [BW1013]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_map-wrong-type-sep_schema.bare":               "1:18: error: a map's key and value have brackets of their own [BW1009]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_optional-no-end-delim_schema.bare":            "1:29: error: expected `>`, found the end of the file [BW1004]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_optional-no-start-delim_schema.bare":          "2:25: error: `optional` needs angle brackets around its type [BW1009]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_struct-field-wrong-sep-coma_schema.bare":      "2:14: error: no `,` is needed: white space separates [BW1007]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_struct-field-wrong-sep-semicolon_schema.bare": "2:14: error: no `;` is needed: white space separates [BW1007]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_struct-legacy_schema.bare":                    "1:1: error: a declaration starts with `type`, not with `struct` [BW1006]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_struct-no-end-delim_schema.bare":              "3:12: error: expected `}` to close the struct, found the end of the file [BW1004]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_struct-no-start-delim_schema.bare":            "2:19: error: expected `{` to open the struct [BW1003]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_union-missing-type-delim_schema.bare":         "1:33: error: members of a union are separated by `|` [BW1007]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_union-no-end-delim_schema.bare":               "1:46: error: expected `}` to close the union, found the end of the file [BW1004]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_union-tag-hex_schema.bare":                    "1:31: error: `0x0` is not a decimal number [BW1013]",
	"invalid/bare-ts+bare__tests-corpus_invalid-bare-schema_union-wrong-type-delim_schema.bare":           "1:33: error: members of a union are separated by `|`, not by `,` [BW1007]",
	"real/poolparty__README_inline.bare":                                                                  "11:14: error: no `=` stands between the name and the type [BW1023]",
}

func TestCorpus(t *testing.T) {
	for _, f := range corpus.All(t) {
		_, errs := Parse(source.NewFile(f.Key(), f.Text))
		got := ""
		if len(errs) > 0 {
			_, got, _ = strings.Cut(errs[0].String(), ".bare:")
		}
		if want := refused[f.Key()]; got != want {
			t.Errorf("%s:\n got %q\nwant %q", f.Key(), got, want)
		}
	}
}
