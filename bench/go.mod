module github.com/fidelityframework/barewire-gen/bench

go 1.25.0

require (
	capnproto.org/go/capnp/v3 v3.1.0-alpha.1
	git.sr.ht/~sircmpwn/go-bare v0.0.0-20210406120253-ab86bc2846d9
	github.com/deneonet/benc v1.1.8
	github.com/ebitengine/purego v0.11.3
	github.com/fidelityframework/barewire-gen v0.0.0
	github.com/google/flatbuffers v25.12.19+incompatible
	github.com/mus-format/mus-go v0.7.2
	github.com/planetscale/vtprotobuf v0.6.1-0.20240319094008-0393e58bdf10
	github.com/tinylib/msgp v1.6.5
	golang.org/x/sys v0.47.0
	google.golang.org/grpc v1.84.0
	google.golang.org/protobuf v1.36.12
)

require (
	git.sr.ht/~sircmpwn/getopt v0.0.0-20191230200459-23622cc906b3 // indirect
	github.com/colega/zeropool v0.0.0-20230505084239-6fb4a4f75381 // indirect
	github.com/mus-format/common-go v0.0.0-20251026152644-9f5ac6728d8a // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	golang.org/x/exp v0.0.0-20240604190554-fc45aab8b7f8 // indirect
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/text v0.40.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260706201446-f0a921348800 // indirect
)

replace github.com/fidelityframework/barewire-gen => ../

tool git.sr.ht/~sircmpwn/go-bare/cmd/gen
