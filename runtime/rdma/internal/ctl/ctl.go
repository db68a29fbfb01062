// Package ctl has the messages that connections of package rdma exchange.
package ctl

//go:generate go -C ../../../.. run ./cmd/barewire-gen generate runtime/rdma/internal/ctl
