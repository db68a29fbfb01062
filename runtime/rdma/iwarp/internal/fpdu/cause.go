package fpdu

import "fmt"

// Cause is why a connection is terminated: the layer, the type of the error and its code, as in the control
// field of a Terminate message. Source: RFC 5040, section 4.8; RFC 5041, section 7.2; RFC 5044, section 8; RFC 6581,
// section 8.
type Cause uint16

// The causes that RDMAP finds.
const (
	Catastrophic      Cause = 0x0000 // local
	InvalidSTag       Cause = 0x0100
	OutOfBounds       Cause = 0x0101
	NoRight           Cause = 0x0102
	ForeignSTag       Cause = 0x0103 // not of this stream
	WrappedTO         Cause = 0x0104
	NotInvalidated    Cause = 0x0109 // a peer may say it as NotInvalidatedOp, too
	Protection        Cause = 0x01ff // unspecified
	RDMAPVersion      Cause = 0x0205
	UnexpectedOpcode  Cause = 0x0206
	StreamCatastrophe Cause = 0x0207
	GlobalCatastrophe Cause = 0x0208
	NotInvalidatedOp  Cause = 0x0209
	Operation         Cause = 0x02ff // unspecified
)

// The causes that DDP finds.
const (
	DDPCatastrophic Cause = 0x1000
	TaggedSTag      Cause = 0x1100
	TaggedBounds    Cause = 0x1101
	TaggedForeign   Cause = 0x1102
	TaggedWrap      Cause = 0x1103
	TaggedVersion   Cause = 0x1104
	InvalidQueue    Cause = 0x1201
	NoBuffer        Cause = 0x1202
	InvalidMSN      Cause = 0x1203
	InvalidMO       Cause = 0x1204
	MessageTooLong  Cause = 0x1205
	UntaggedVersion Cause = 0x1206
)

// The causes that MPA finds; the last three are those of the enhanced set-up.
const (
	StreamLost      Cause = 0x2001
	BadCRC          Cause = 0x2002
	BadMarker       Cause = 0x2003 // or its length field
	BadStartup      Cause = 0x2004
	MPACatastrophic Cause = 0x2005
	TooLittleIRD    Cause = 0x2006
	NoRTR           Cause = 0x2007
)

var causes = map[Cause]string{
	Catastrophic:      "local catastrophic error",
	InvalidSTag:       "no such key",
	OutOfBounds:       "out of the bounds of the key's memory",
	NoRight:           "the key does not give that right",
	ForeignSTag:       "the key is of another connection",
	WrappedTO:         "the address wraps around",
	NotInvalidated:    "the key cannot be invalidated",
	Protection:        "protection error",
	RDMAPVersion:      "another version of RDMAP",
	UnexpectedOpcode:  "unexpected opcode",
	StreamCatastrophe: "catastrophic error of the connection",
	GlobalCatastrophe: "catastrophic error of the host",
	NotInvalidatedOp:  "the key cannot be invalidated",
	Operation:         "operation error",
	DDPCatastrophic:   "local catastrophic error of DDP",
	TaggedSTag:        "no such key to place data by",
	TaggedBounds:      "data out of the bounds of the key's memory",
	TaggedForeign:     "data for a key of another connection",
	TaggedWrap:        "the address of data wraps around",
	TaggedVersion:     "another version of DDP in a tagged segment",
	InvalidQueue:      "no such queue",
	NoBuffer:          "no receive is posted for a message",
	InvalidMSN:        "message out of sequence",
	InvalidMO:         "segment out of sequence",
	MessageTooLong:    "the message is longer than the buffer for it",
	UntaggedVersion:   "another version of DDP in an untagged segment",
	StreamLost:        "TCP connection lost",
	BadCRC:            "checksum error",
	BadMarker:         "bad marker or length of a frame",
	BadStartup:        "bad start-up frame",
	MPACatastrophic:   "local catastrophic error of MPA",
	TooLittleIRD:      "too few reads at a time",
	NoRTR:             "no ready-to-receive message that both can do",
}

var layers = [16]string{"RDMAP", "DDP", "MPA"}

// String says it in words, with the numbers: they are what other implementations show.
func (c Cause) String() string {
	words, layer := causes[c], layers[c.Layer()]
	if c&^0xff == Catastrophic {
		words = causes[Catastrophic] // whatever its code: it has none
	}
	if words == "" {
		words = "unknown cause"
	}
	if layer == "" {
		layer = "unknown layer"
	}
	return fmt.Sprintf("%s, %s 0x%04x", words, layer, uint16(c))
}

// Layer is the number of the layer that found it: 0 is RDMAP, 1 is DDP, 2 is MPA.
func (c Cause) Layer() int { return int(c >> 12) }

// Fault is what is wrong with what a peer sent.
type Fault struct {
	Cause  Cause
	Detail string
	Raced  bool // the peer could not know: what it used was there a moment ago
}

// Misfit is the fault of a message of n octets, where its kind has want. The DDP layer's code is for those that are too
// long; for others there is none. It is nil where they are as many. Source: RFC 5041, section 7.2; RFC 7306, section 6.3.
func Misfit(n, want int) *Fault {
	if n == want {
		return nil
	}
	f := &Fault{Cause: StreamCatastrophe, Detail: fmt.Sprintf("a message of %d octets, and its kind has %d", n, want)}
	if n > want {
		f.Cause = MessageTooLong
	}
	return f
}

func (f *Fault) Error() string { return fmt.Sprintf("%s (%s)", f.Detail, f.Cause) }
