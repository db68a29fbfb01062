//go:build race

package barewire_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
)

const raceKey = "BAREWIRE_RACE_TEST"

// TestRacesAreSeen runs this test again, which must find that two goroutines use
// an element in turns that nothing orders but windows.
func TestRacesAreSeen(t *testing.T) {
	if os.Getenv(raceKey) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRacesAreSeen$", "-test.count=1")
		cmd.Env = append(os.Environ(), raceKey+"=1")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "DATA RACE") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	r := newTicks(t, 1)
	turn := make(chan bool)
	use := func() {
		err := barewire.With(r, func(w sample.TickWindow[barewire.Unregistered]) error {
			sample.TickAt(w, 0).SetPrice(1)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		turn <- true
	}
	go use()
	go use()
	<-turn
	<-turn
}
