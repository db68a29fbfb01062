package plan

import "testing"

func TestExported(t *testing.T) {
	for name, want := range map[string]string{
		"user_id":          "UserID",
		"userId":           "UserID",
		"userID":           "UserID",
		"userIDs":          "UserIDs",
		"user_ids":         "UserIDs",
		"IDsOf":            "IDsOf",
		"id":               "ID",
		"ids":              "IDs",
		"idle":             "Idle",
		"type":             "Type",
		"len":              "Len",
		"x":                "X",
		"CUSTOMER_SERVICE": "CustomerService",
		"HTTP_ERROR":       "HTTPError",
		"HTTPServer":       "HTTPServer",
		"httpServer":       "HTTPServer",
		"OK":               "OK",
		"A":                "A",
		"AB":               "Ab",
		"A1":               "A1",
		"a_1":              "A1",
		"sha256sum":        "Sha256sum",
		"utf8_text":        "UTF8Text",
		"_private":         "Private",
		"_":                "X",
		"__":               "X",
		"":                 "X",
		"_1":               "X1",
		"fooBarBaz":        "FooBarBaz",
		"FooBar":           "FooBar",
		"trailing_":        "Trailing",
		"a__b":             "AB",
		"urlOfAPI":         "URLOfAPI",
		"x86_64":           "X8664",
		"iOS":              "IOS",
		"kebab-case":       "KebabCase",
	} {
		if got := Exported(name); got != want {
			t.Errorf("Exported(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestTypeName(t *testing.T) {
	for name, want := range map[string]string{
		"Customer": "Customer", "HttpURL": "HttpURL", "my_type": "MyType", "T_1": "T_1", "Error": "Error", "String": "String",
		"xFoo": "XFoo", "_x": "X",
	} {
		if got := TypeName(name); got != want {
			t.Errorf("TypeName(%q) = %q, want %q", name, got, want)
		}
	}
}
