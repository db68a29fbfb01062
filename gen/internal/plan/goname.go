package plan

import (
	"go/token"
	"strings"
)

// initialisms are the words that Go writes in capitals. The table decides Go
// names of every schema, so words may be added for a new major version only.
var initialisms = map[string]bool{
	"ACL": true, "AMQP": true, "API": true, "ASCII": true, "CPU": true, "CSS": true, "DNS": true, "EOF": true,
	"GID": true, "GPU": true, "GUID": true, "HTML": true, "HTTP": true, "HTTPS": true, "ID": true, "IDS": true,
	"IP": true, "JSON": true, "LHS": true, "OK": true, "QPS": true, "RAM": true, "RHS": true, "RPC": true,
	"SLA": true, "SMTP": true, "SQL": true, "SSH": true, "TCP": true, "TLS": true, "TTL": true, "UDP": true,
	"UI": true, "UID": true, "URI": true, "URL": true, "UTF8": true, "UUID": true, "VM": true, "XML": true,
	"XMPP": true, "XSRF": true, "XSS": true,
}

// plurals are initialisms whose plural keeps a small s.
var plurals = map[string]string{"IDS": "IDs"}

// Exported is the Go name for a name of the schema: user_id and userId are
// UserID, CUSTOMER_SERVICE is CustomerService, type is Type.
func Exported(name string) string {
	var out strings.Builder
	for _, w := range words(name) {
		upper := strings.ToUpper(w)
		switch {
		case plurals[upper] != "":
			out.WriteString(plurals[upper])
		case initialisms[upper]:
			out.WriteString(upper)
		default:
			out.WriteString(upper[:1])
			out.WriteString(w[1:])
		}
	}
	s := out.String()
	if s == "" || s[0]-'0' < 10 {
		s = "X" + s // nothing but underscores, or a digit first
	}
	return s
}

// TypeName is the Go name for a type's name: as written, but exported.
func TypeName(name string) string {
	if name != "" && name[0]-'A' < 26 && token.IsIdentifier(name) {
		return name
	}
	return Exported(name)
}

// words cuts a name at underscores and where a capital begins a word:
// HTTPServer is HTTP, Server. Digits belong to the word before them. A name
// without small letters is all words in capitals, which become small.
func words(name string) []string {
	if strings.ToUpper(name) == name {
		name = strings.ToLower(name)
	}
	var out []string
	from := 0
	cut := func(to int) {
		if from < to {
			out = append(out, name[from:to])
		}
		from = to
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case !isAlnum(c):
			cut(i)
			from = i + 1
		case isUpper(c) && i > from:
			before := isUpper(name[i-1])
			if !before || i+1 < len(name) && isLower(name[i+1]) && !isPluralEnd(name[from:], i-from) {
				cut(i)
			}
		}
	}
	cut(len(name))
	return out
}

// isPluralEnd reports whether the capital at i and the s behind it end an
// initialism's plural, as in userIDs.
func isPluralEnd(word string, i int) bool {
	return i+2 <= len(word) && plurals[strings.ToUpper(word[:i+2])] != "" && (i+2 == len(word) || !isLower(word[i+2]))
}

func isUpper(c byte) bool { return c-'A' < 26 }
func isLower(c byte) bool { return c-'a' < 26 }
func isAlnum(c byte) bool { return isUpper(c) || isLower(c) || c-'0' < 10 }
