package verbs

import (
	"context"
	"encoding/binary"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
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

// dialGRPCOverTCP starts the peer and connects to it.
func dialGRPCOverTCP(l *Loop) (*grpc.ClientConn, context.Context, error) {
	addr, err := l.start("grpc, tcp")
	if err != nil {
		return nil, nil, err
	}
	c, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, err
	}
	l.onClose(c.Close)
	ctx, cancel := within()
	l.onClose(func() error { cancel(); return nil })
	return c, ctx, nil
}

// echoCalls makes calls one after the other.
func echoCalls(ctx context.Context, c *grpc.ClientConn, n int, seq uint64) error {
	payload := make([]byte, 64)
	for range n {
		seq++
		binary.LittleEndian.PutUint64(payload, seq)
		var out wrapperspb.BytesValue
		if err := c.Invoke(ctx, "/bench.Echo/Call", &wrapperspb.BytesValue{Value: payload}, &out); err != nil {
			return err
		}
		if err := same(out.Value, seq); err != nil {
			return err
		}
	}
	return nil
}

// grpcOneCall makes calls one after the other.
func grpcOneCall(l *Loop) error {
	c, ctx, err := dialGRPCOverTCP(l)
	if err != nil {
		return err
	}
	seq := uint64(0)
	l.Run = func(n int) error {
		seq += uint64(n)
		return echoCalls(ctx, c, n, seq)
	}
	return nil
}

// grpcManyCalls makes many calls at a time, which gRPC puts into fewer system calls.
func grpcManyCalls(l *Loop) error {
	c, ctx, err := dialGRPCOverTCP(l)
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

// grpcMessages sends so many messages on a stream and waits for so many answers.
func grpcMessages(stream *grpc.StreamDesc, some, answers int) func(*Loop) error {
	return func(l *Loop) error {
		c, ctx, err := dialGRPCOverTCP(l)
		if err != nil {
			return err
		}
		s, err := c.NewStream(ctx, stream, "/bench.Echo/"+stream.StreamName)
		if err != nil {
			return err
		}
		seq := uint64(0)
		payload := make([]byte, 64)
		var out wrapperspb.BytesValue
		l.Run = func(n int) error {
			for range n {
				for range some {
					seq++
					binary.LittleEndian.PutUint64(payload, seq)
					if err := s.SendMsg(&wrapperspb.BytesValue{Value: payload}); err != nil {
						return err
					}
				}
				for range answers {
					if err := s.RecvMsg(&out); err != nil {
						return err
					}
				}
				if err := same(out.Value, seq); err != nil {
					return err
				}
			}
			return nil
		}
		return nil
	}
}
