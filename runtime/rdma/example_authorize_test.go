package rdma_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Who may connect: peers of the same user, by the word of the operating system. Where it has none, as
// between machines, nobody may.
func ExampleConfig_authorize() {
	sameUser := func(r rdma.Request) error {
		if r.Process == nil || r.Process.UID != os.Getuid() {
			return errors.New("this is for processes of the same user")
		}
		return nil
	}
	cfg := rdma.Config{Authorize: sameUser} // for rdma.Open

	fmt.Println(cfg.Authorize(rdma.Request{Process: &rdma.Process{PID: 7, UID: os.Getuid()}}))
	fmt.Println(cfg.Authorize(rdma.Request{Process: &rdma.Process{PID: 8, UID: os.Getuid() + 1}}))
	// Output:
	// <nil>
	// this is for processes of the same user
}
