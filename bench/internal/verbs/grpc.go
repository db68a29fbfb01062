package verbs

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"

	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// echoer is the service: a call, and a stream of them.
type echoer interface {
	echo(context.Context, *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error)
}

type echoService struct{}

func (echoService) echo(_ context.Context, b *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) {
	return b, nil
}

var echoStream = grpc.StreamDesc{
	StreamName: "Stream", ServerStreams: true, ClientStreams: true,
	Handler: func(_ any, s grpc.ServerStream) error {
		for {
			var b wrapperspb.BytesValue
			if err := s.RecvMsg(&b); err != nil {
				return nil // the client is done
			}
			if err := s.SendMsg(&b); err != nil {
				return err
			}
		}
	},
}

// echoDesc is what protoc-gen-go-grpc writes for the service.
var echoDesc = grpc.ServiceDesc{
	ServiceName: "bench.Echo",
	HandlerType: (*echoer)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Call", Handler: func(srv any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var b wrapperspb.BytesValue
		if err := dec(&b); err != nil {
			return nil, err
		}
		return srv.(echoer).echo(ctx, &b)
	}}},
	Streams: []grpc.StreamDesc{echoStream, ackStream},
}

func init() {
	peers["grpc"] = serveGRPC
	peers["grpc, tcp"] = serveGRPCOverTCP
}

// serveGRPC is the other process.
func serveGRPC(ready func(string)) error {
	dir, err := os.MkdirTemp("", "barewire-bench")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "grpc")
	ln, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	ready(path)
	return echoServer().Serve(ln)
}

// echoServer is a server with all there is to call.
func echoServer() *grpc.Server {
	s := grpc.NewServer()
	s.RegisterService(&echoDesc, echoService{})
	return s
}

// dialGRPC starts a peer and connects to it, at what target makes of its address.
func dialGRPC(l *Loop, peer string, target func(addr string) string) (*grpc.ClientConn, context.Context, error) {
	addr, err := l.start(peer)
	if err != nil {
		return nil, nil, err
	}
	c, err := grpc.NewClient(target(addr), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, err
	}
	l.onClose(c.Close)
	ctx, cancel := within()
	l.onClose(func() error { cancel(); return nil })
	return c, ctx, nil
}

// dialer connects to a peer that it starts.
type dialer func(*Loop) (*grpc.ClientConn, context.Context, error)

func overUnix(l *Loop) (*grpc.ClientConn, context.Context, error) {
	return dialGRPC(l, "grpc", func(path string) string {
		l.onClose(func() error { return os.RemoveAll(filepath.Dir(path)) })
		return "unix://" + path
	})
}

// grpcCalls makes calls one after the other.
func grpcCalls(dial dialer) func(*Loop) error {
	return func(l *Loop) error {
		c, ctx, err := dial(l)
		if err != nil {
			return err
		}
		seq := uint64(0)
		l.Run = func(n int) error {
			err := echoCalls(ctx, c, n, seq)
			seq += uint64(n)
			return err
		}
		return nil
	}
}

// echoCalls makes n calls, and numbers them from seq on.
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

// grpcMessages sends so many messages on a stream and waits for so many answers.
func grpcMessages(dial dialer, stream *grpc.StreamDesc, some, answers int) func(*Loop) error {
	return func(l *Loop) error {
		c, ctx, err := dial(l)
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

// same holds an answer to the number that was sent.
func same(b []byte, seq uint64) error {
	if len(b) != 64 {
		return differ(0, seq)
	}
	if got := binary.LittleEndian.Uint64(b); got != seq {
		return differ(got, seq)
	}
	return nil
}

func grpcRoundTrips(row func(string, rows.Class, string, func() (*Loop, error)) Row) []Row {
	return []Row{
		row("grpc, stream", rows.Peer, "one stream, over a Unix socket", opener(grpcMessages(overUnix, &echoStream, 1, 1))),
		row("grpc, calls", rows.Peer, "over a Unix socket", opener(grpcCalls(overUnix))),
	}
}
