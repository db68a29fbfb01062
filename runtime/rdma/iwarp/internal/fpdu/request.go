package fpdu

import "encoding/binary"

// ReadRequestSize is the bytes of a ReadRequestHeader.
const ReadRequestSize = 28

// ReadRequestHeader is the payload of a read request. Source: RFC 5040, section 4.4.
type ReadRequestHeader struct {
	SinkSTag   uint32
	SinkTO     uint64
	Size       uint32
	SourceSTag uint32
	SourceTO   uint64
}

// Append appends it as it travels.
func (r *ReadRequestHeader) Append(b []byte) []byte {
	be := binary.BigEndian
	b = be.AppendUint32(b, r.SinkSTag)
	b = be.AppendUint64(b, r.SinkTO)
	b = be.AppendUint32(b, r.Size)
	b = be.AppendUint32(b, r.SourceSTag)
	return be.AppendUint64(b, r.SourceTO)
}

// Parse reads it from a payload, which has exactly its size.
func (r *ReadRequestHeader) Parse(b []byte) bool {
	if len(b) != ReadRequestSize {
		return false
	}
	be := binary.BigEndian
	*r = ReadRequestHeader{be.Uint32(b), be.Uint64(b[4:]), be.Uint32(b[12:]), be.Uint32(b[16:]), be.Uint64(b[20:])}
	return true
}
