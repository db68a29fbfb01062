// Package prefetch tells the processor what memory will be needed, so that it is on its way
// while something else is done.
package prefetch
