//go:build !linux

package main

import "errors"

var errLinux = errors.New("memory is placed on Linux only")

func allocations(bool) ([]*table, error) { return nil, errLinux }

func pools(bool) ([]*table, error) { return nil, errLinux }

func loops(bool) ([]*table, error) { return nil, errLinux }
