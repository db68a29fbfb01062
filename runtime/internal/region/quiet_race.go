//go:build race

package region

import "runtime"

// Race says that this program looks for data races.
const Race = true

// Checked says that each access to a window's memory checks that it is open.
const Checked = true

// quiet makes the race detector ignore locks and atomics until loud: counting
// windows must not seem to order what their users do with the memory.
func quiet() { runtime.RaceDisable() }

func loud() { runtime.RaceEnable() }
