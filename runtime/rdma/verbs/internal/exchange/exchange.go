// Package exchange has the messages that two programs with package verbs exchange over TCP.
package exchange

//go:generate go -C ../../../../.. run ./cmd/barewire-gen generate runtime/rdma/verbs/internal/exchange
