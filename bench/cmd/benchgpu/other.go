//go:build !linux || !(amd64 || arm64)

package main

// libraries are none where the providers are not.
var libraries []library
