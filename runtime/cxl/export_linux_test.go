package cxl

func init() { regularFiles = true }

// Halfway has f called when half of an element is published.
func Halfway(f func()) { halfway = f }
