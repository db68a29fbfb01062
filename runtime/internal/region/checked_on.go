//go:build barewiredebug && !race

package region

// Checked says that each access to a window's memory checks that it is open.
const Checked = true
