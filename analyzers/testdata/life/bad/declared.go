package bad

// BadSaysUses ends what it says to use.
//
//barewire:effect uses=m
func BadSaysUses(m *M) error { // want "BW5113 .m. is ended, and the directive of BadSaysUses does not say so"
	return m.Close()
}

// BadSaysReleases only looks.
//
//barewire:effect releases=m
func BadSaysReleases(m *M) int { // want "BW5113 .m. is not ended, and the directive of BadSaysReleases says so"
	return m.Span(0, 1).Len()
}
