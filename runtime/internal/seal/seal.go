// Package seal has the key to functions that only the runtime's own packages
// may call: nobody else can name its type, so nobody else can pass it.
package seal

// Friend is that key.
type Friend struct{ _ [0]func() }
