package plan

// table is the injective table of the names in one scope.
type table struct{ methods map[[2]string]string }

func (t *table) method(base string, p Pattern) string {
	n, ok := t.methods[[2]string{base, string(p)}]
	if !ok {
		panic("plan: no view name " + string(p) + " for " + base)
	}
	return n
}
