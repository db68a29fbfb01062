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

// dialGRPC starts the peer and connects to it.
func dialGRPC(l *Loop) (*grpc.ClientConn, error) {
	path, err := l.start("grpc")
	if err != nil {
		return nil, err
	}
	l.onClose(func() error { return os.RemoveAll(filepath.Dir(path)) })
	c, err := grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	l.onClose(c.Close)
	return c, nil
}

func grpcCalls(l *Loop) error {
	c, err := dialGRPC(l)
	if err != nil {
		return err
	}
	ctx, cancel := within()
	l.onClose(func() error { cancel(); return nil })
	seq := uint64(0)
	payload := make([]byte, 64)
	l.Run = func(n int) error {
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
	return nil
}

func grpcStream(l *Loop) error {
	c, err := dialGRPC(l)
	if err != nil {
		return err
	}
	ctx, cancel := within()
	l.onClose(func() error { cancel(); return nil })
	s, err := c.NewStream(ctx, &echoStream, "/bench.Echo/Stream")
	if err != nil {
		return err
	}
	seq := uint64(0)
	payload := make([]byte, 64)
	l.Run = func(n int) error {
		for range n {
			seq++
			binary.LittleEndian.PutUint64(payload, seq)
			if err := s.SendMsg(&wrapperspb.BytesValue{Value: payload}); err != nil {
				return err
			}
			var out wrapperspb.BytesValue
			if err := s.RecvMsg(&out); err != nil {
				return err
			}
			if err := same(out.Value, seq); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
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
		row("grpc, stream", rows.Peer, "one stream, over a Unix socket", opener(grpcStream)),
		row("grpc, calls", rows.Peer, "over a Unix socket", opener(grpcCalls)),
	}
}
