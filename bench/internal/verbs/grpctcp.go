package verbs

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// many is how many operations of 64 bytes go out before somebody waits.
const many = 64

// ackStream answers every so many messages with one.
var ackStream = grpc.StreamDesc{
	StreamName: "Acknowledge", ServerStreams: true, ClientStreams: true,
	Handler: func(_ any, s grpc.ServerStream) error {
		var b wrapperspb.BytesValue
		for {
			for range many {
				if err := s.RecvMsg(&b); err != nil {
					return nil // the client is done
				}
			}
			if err := s.SendMsg(&b); err != nil {
				return err
			}
		}
	},
}

// serveGRPCOverTCP is the other process.
func serveGRPCOverTCP(ready func(string)) error {
	ln, err := net.Listen("tcp", loopback)
	if err != nil {
		return err
	}
	ready(ln.Addr().String())
	return echoServer().Serve(ln)
}

func overTCP(l *Loop) (*grpc.ClientConn, context.Context, error) {
	return dialGRPC(l, "grpc, tcp", func(addr string) string { return "passthrough:///" + addr })
}

// grpcManyCalls makes many calls at a time, which gRPC puts into fewer system calls.
func grpcManyCalls(l *Loop) error {
	c, ctx, err := overTCP(l)
	if err != nil {
		return err
	}
	l.Run = func(n int) error {
		var all sync.WaitGroup
		errs := make(chan error, many)
		for range many {
			all.Go(func() { errs <- echoCalls(ctx, c, n, 0) })
		}
		all.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}
