package verbs

import "github.com/fidelityframework/barewire-gen/bench/internal/rows"

// The tables of cmd/benchiwarp, in their order. All is between two processes, over TCP on
// the loopback interface.
const (
	Served    = "64 bytes there, and an answer of the reader on the other side"
	Echoed    = "64 bytes there and back, from application to application"
	Written   = "1 MiB written, and acknowledged"
	WrittenBy = "1 MiB written, 8 before all are acknowledged, each"
	Fetched   = "1 MiB read"
	FetchedBy = "1 MiB read, 8 asked for before all are there, each"
	Processor = "64 bytes there, and acknowledged"
)

// Where both processes of a row run, in its name.
const (
	Together = "together"
	Apart    = "apart"
)

// TCPTables lists them.
var TCPTables = []string{Served, Echoed, Written, WrittenBy, Fetched, FetchedBy, Processor}

// ahead is how many messages of a MiB are on their way at once where it is more than one.
const ahead = 8

// OverTCP returns the rows of iWARP and of what else there is over TCP.
func OverTCP() []Row {
	all := []Row{
		{Table: Served, Name: "tcp", Class: rows.Limit, Note: "read and written by one goroutine on each side", Open: opener(tcpPing)},
		{Table: Served, Name: "tcp, hop", Class: rows.Variant, Note: "with a goroutine that reads on the side that waits", Open: opener(tcpPingByHop("tcp, echo"))},
		ours(Served, "iwarp", rows.Ours, "Write and Flush", iwarpFlushes),
		ours(Served, "iwarp, no CRC", rows.Variant, "", iwarpFlushes),
		named("iwarp, batch", ours(Served, "iwarp", rows.Variant, "both by Batch: one doorbell", iwarpBatchFlushes)),
		ours(Served, "iwarp, adaptive", rows.Variant, "looks for some time, then sleeps", iwarpFlushes),
		ours(Served, "iwarp, busy", rows.Variant, "never sleeps, each side on a processor of its own", iwarpFlushes),
		named("iwarp, busy, batch", ours(Served, "iwarp, busy", rows.Variant, "the same, both by Batch", iwarpBatchFlushes)),
		{Table: Echoed, Name: "tcp, hop", Class: rows.Limit, Note: "read by one goroutine, taken from a channel and answered by another, on both sides", Open: opener(tcpPingByHop("tcp, echo by hop"))},
		ours(Echoed, "iwarp", rows.Ours, "WriteNotify and NextNotification on both sides", iwarpPing),
		ours(Echoed, "iwarp, no CRC", rows.Variant, "", iwarpPing),
		ours(Echoed, "iwarp, adaptive", rows.Variant, "looks for some time, then sleeps", iwarpPing),
		ours(Echoed, "iwarp, busy", rows.Variant, "never sleeps, each side on a processor of its own", iwarpPing),
		{Table: Echoed, Name: "grpc, call", Class: rows.Peer, Open: opener(grpcCalls(overTCP))},
		{Table: Echoed, Name: "grpc, stream", Class: rows.Peer, Open: opener(grpcMessages(overTCP, &echoStream, 1, 1))},
	}
	all = append(all, placedRows()...)
	all = append(all, bulkRows(Written, Fetched, 1)...)
	all = append(all, bulkRows(WrittenBy, FetchedBy, ahead)...)
	return append(all, processorRows()...)
}

// placedRows are the first table's with both processes where the row says. Where nothing is said, the system's scheduler
// has the two of a row together on one processor, or apart; which of them, it decides early and keeps to, and waking who
// sleeps on an idle processor may take longer than all else together. So a proportion of rows that lie otherwise says little.
func placedRows() []Row {
	var list []Row
	for _, p := range []struct {
		name, note string
		where      placing
	}{{Together, "both processes on one processor", together}, {Apart, "each process on a processor", separate}} {
		list = append(list,
			Row{Table: Served, Name: "tcp, " + p.name, Class: rows.Variant, Note: p.note, Open: opener(placed(p.where, tcpPing))},
			Row{Table: Served, Name: "iwarp, " + p.name, Class: rows.Variant, Note: p.note, NoAlloc: true, Open: opener(placed(p.where, connects("iwarp", iwarpFlushes)))},
			Row{Table: Served, Name: "iwarp, batch, " + p.name, Class: rows.Variant, Note: p.note, NoAlloc: true, Open: opener(placed(p.where, connects("iwarp", iwarpBatchFlushes)))})
	}
	return list
}

// ours is a row of ours, in which nothing is allocated.
func ours(table, way string, class rows.Class, note string, run iwarpRun) Row {
	return Row{Table: table, Name: way, Class: class, Note: note, NoAlloc: true, Open: overIWARP(way, run)}
}

// named gives a row another name.
func named(name string, r Row) Row {
	r.Name = name
	return r
}

// bulkRows are the rows of 1 MiB, so many at once.
func bulkRows(written, fetched string, some int) []Row {
	var list []Row
	add := func(table, name string, class rows.Class, note string, where placing, open func(*Loop) error) {
		list = append(list, Row{
			Table: table, Name: name, Class: class, Note: note, NoAlloc: class != rows.Limit, Per: some, Bytes: mib,
			Open: opener(placed(where, open)),
		})
	}
	for _, p := range []struct {
		suffix, note string
		where        placing
		limit, ours  rows.Class
	}{{"", "", anywhere, rows.Limit, rows.Ours}, {", " + Apart, ", each process on a processor", separate, rows.Variant, rows.Variant}} {
		add(written, "tcp"+p.suffix, p.limit, "a byte back for each"+p.note, p.where, tcpWrites(some))
		add(written, "iwarp"+p.suffix, p.ours, "Write, and one Flush"+p.note, p.where, connects("iwarp", iwarpWrites(some)))
		add(written, "iwarp, no CRC"+p.suffix, rows.Variant, "the same"+p.note, p.where, connects("iwarp, no CRC", iwarpWrites(some)))
		add(fetched, "tcp"+p.suffix, p.limit, "a byte there for each"+p.note, p.where, tcpReads(some))
		add(fetched, "iwarp"+p.suffix, p.ours, "Read"+p.note, p.where, connects("iwarp", iwarpReads(some)))
		add(fetched, "iwarp, no CRC"+p.suffix, rows.Variant, "the same"+p.note, p.where, connects("iwarp, no CRC", iwarpReads(some)))
	}
	return list
}

// processorRows are the rows whose processor time counts.
func processorRows() []Row {
	list := []Row{
		{Table: Processor, Name: "tcp, 64 at once", Class: rows.Limit, Note: "64 packets by one system call, a byte back for all", Open: opener(tcpFrames)},
		ours(Processor, "iwarp", rows.Ours, "64 Writes by Batch, one Flush", iwarpManyWrites),
		ours(Processor, "iwarp, no CRC", rows.Variant, "", iwarpManyWrites),
		{Table: Processor, Name: "grpc, calls at once", Class: rows.Peer, Note: "64 at a time, each from a goroutine", Open: opener(grpcManyCalls)},
		{Table: Processor, Name: "grpc, stream", Class: rows.Peer, Note: "64 messages, then 64 answers", Open: opener(grpcMessages(overTCP, &echoStream, many, many))},
		{Table: Processor, Name: "grpc, stream, 64 at once", Class: rows.Peer, Note: "64 messages, one answer for all", Open: opener(grpcMessages(overTCP, &ackStream, many, 1))},
	}
	for _, way := range []string{"iwarp", "iwarp, 256 credits"} {
		r := named("notify: "+way, ours(Processor, way, rows.Variant, "WriteNotify by Batch, as fast as credit comes back", iwarpNotifies))
		r.NoAlloc = false // that there is no credit is an error, which is made each time
		list = append(list, r)
	}
	for i := range list {
		list[i].Per = many
	}
	return append(list, Row{Table: Processor, Name: "grpc, call", Class: rows.Peer, Note: "one after the other", Open: opener(grpcCalls(overTCP))})
}

// TCPGoals are the wanted proportions. Of round trips it compares rows whose processes lie alike (placedRows).
func TCPGoals() []Wanted {
	var goals []Wanted
	for _, p := range []string{Together, Apart} {
		goals = append(goals,
			Wanted{Table: Served, What: "64 bytes, Write and Flush: TCP's round trip, " + p, Of: []string{"iwarp, " + p}, To: []string{"tcp, " + p}, Most: 1.5},
			Wanted{Table: Served, What: "64 bytes, the same by Batch, " + p, Of: []string{"iwarp, batch, " + p}, To: []string{"tcp, " + p}, Most: 1.5})
	}
	goals = append(goals,
		Wanted{Table: Served, What: "64 bytes, the same by who never sleeps", Of: []string{"iwarp, busy, batch"}, To: []string{"tcp, " + Together}, Most: 1.5},
		Wanted{Table: Echoed, What: "64 bytes, WriteNotify there and back: TCP's with the same hops", Of: []string{"iwarp"}, To: []string{"tcp, hop"}, Most: 1.3},
		Wanted{Table: Echoed, What: "64 bytes, the same by who looks before sleeping", Of: []string{"iwarp, adaptive"}, To: []string{"tcp, hop"}, Most: 1.3})
	for _, t := range []struct{ table, what string }{
		{Written, "1 MiB written"}, {WrittenBy, "1 MiB written, 8 at once"}, {Fetched, "1 MiB read"}, {FetchedBy, "1 MiB read, 8 at once"},
	} {
		for _, suffix := range []string{"", ", " + Apart} {
			goals = append(goals,
				Wanted{Table: t.table, What: t.what + ", with CRC: part of TCP's throughput" + suffix, Of: []string{"iwarp" + suffix}, To: []string{"tcp" + suffix}, Least: 0.55},
				Wanted{Table: t.table, What: t.what + ", without CRC: part of TCP's throughput" + suffix, Of: []string{"iwarp, no CRC" + suffix}, To: []string{"tcp" + suffix}, Least: 0.9})
		}
	}
	for _, of := range []struct{ row, what string }{{"iwarp", "64 writes and a Flush"}, {"notify: iwarp", "WriteNotify and credit"}} {
		goals = append(goals,
			Wanted{Table: Processor, What: of.what + ": operations in a second of processor time, times gRPC's calls", CPU: true, Of: []string{of.row}, To: []string{"grpc, call", "grpc, calls at once"}, Least: 20},
			Wanted{Table: Processor, What: of.what + ": the same, times a gRPC stream's", CPU: true, Of: []string{of.row}, To: []string{"grpc, stream", "grpc, stream, 64 at once"}, Least: 2})
	}
	return goals
}
