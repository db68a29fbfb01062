//go:build !race

package region

// Race says that this program looks for data races.
const Race = false

func quiet() {}

func loud() {}
