package iwarp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// A listener to which more peers of one source come at once than it has places for ends what is too much, without a
// word. So who dials tries again a few times when a connection ends like that, each time after about twice as long, and not at
// the same time as others do. That is not done in plain mode: there the end of a connection means that the peer knows
// revision 1 of MPA only.

// How often and after how long is dialled again: about 3 s, all together. Variables for tests.
var (
	redials       = 8
	firstRedial   = 20 * time.Millisecond
	longestRedial = time.Second
)

// dialAgain is dialAs, again and again while the peer ends the connection before it says anything.
func (d *domain) dialAgain(ctx context.Context, addr string, hello []byte) (*queue, error) {
	pause := firstRedial
	var silent error // how the try before ended
	for n := 1; ; n++ {
		q, err := d.dialAs(ctx, addr, fpdu.Revision2, hello)
		switch {
		case err == nil:
			return q, nil
		case silent != nil && ctx.Err() != nil:
			return nil, silent // it says more than that the time is over
		case !errors.Is(err, errSilent) || d.adapter.plain:
			return nil, err
		}
		silent = err
		if n > 1 {
			silent = fmt.Errorf("%w; it was dialled %d times", err, n)
		}
		if n > redials {
			return nil, silent
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return nil, silent
		}
		pause = min(2*pause, longestRedial)
	}
}
