package shm

import (
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// deviceName is the one device there is.
const deviceName = "host"

type provider struct{}

func init() { rdma.Use(provider{}) }

// Provider is what the package registers when it is imported.
func Provider() rdma.Provider { return provider{} }

// Name is the provider's name.
func (provider) Name() string { return "shm" }
