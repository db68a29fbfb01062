//go:build linux && (amd64 || arm64)

package abi

// struct ibv_device, ibv_context (with its ibv_context_ops, whose functions the inline functions of the header call)
// and ibv_device_attr.
const (
	DeviceNodeType      = 16
	DeviceTransportType = 20
	DeviceName          = 24 // IBV_SYSFS_NAME_MAX octets
	DeviceNameLen       = 64
	DeviceFile          = 88 // the same room

	ContextDevice      = 0
	ContextAllocMW     = 64
	ContextBindMW      = 72
	ContextDeallocMW   = 80
	ContextPollCQ      = 96
	ContextReqNotifyCQ = 104
	ContextPostSend    = 208
	ContextPostRecv    = 216
	ContextAsyncFD     = 268
	ContextABI         = 320 // of extended contexts all ones: then a struct verbs_context is around it

	DeviceAttrSize          = 232
	DeviceAttrFirmware      = 0
	DeviceAttrMaxMRSize     = 80
	DeviceAttrMaxQPWR       = 112
	DeviceAttrCapFlags      = 116
	DeviceAttrMaxSGE        = 120
	DeviceAttrMaxSGERead    = 124
	DeviceAttrMaxCQE        = 132
	DeviceAttrMaxQPRdAtom   = 144
	DeviceAttrMaxInitRdAtom = 156
	DeviceAttrAtomicCap     = 164
	DeviceAttrPorts         = 227
)

// struct verbs_context, which is around an extended ibv_context, and ibv_device_attr_ex. Its fields have fixed places counted from the
// ibv_context, since it grows at its beginning ("grows up"); the size that it was made with says which of them are there.
const (
	ExtendedABI           = ^uint64(0)
	ExtendedSize          = -8
	ExtendedQueryDevice   = -104
	ExtendedQueryDeviceIn = 432 // the size of one that has it, at least

	DeviceAttrExSize = 400
	DeviceAttrExRoom = 1024
	DeviceAttrExODP  = 240 // general capabilities
	DeviceAttrExRC   = 248 // what can be done on demand by reliable connections
)

// Capabilities of a device, and of registrations on demand.
const (
	CapWindow  = 1 << 17
	CapWindow2 = 1<<23 | 1<<24 // of type 2, A or B: keys for one queue pair

	ODPSupport = 1
	ODPSend    = 1
	ODPRecv    = 2
	ODPWrite   = 4
	ODPRead    = 8
	ODPAtomic  = 16
)

// struct ibv_port_attr: 48 octets in rdma-core 17, 52 in 24, 56 in 50. The library fills in what its caller was compiled for
// or all of it, so there must be room.
const (
	PortAttrRoom      = 128
	PortAttrState     = 0
	PortAttrActiveMTU = 8
	PortAttrGIDs      = 12
	PortAttrMaxMsg    = 20
	PortAttrLID       = 34
	PortAttrLinkLayer = 46
)

// struct ibv_gid_entry, and the types of GIDs in it.
const (
	GIDEntrySize   = 32
	GIDEntryGID    = 0
	GIDEntryIndex  = 16
	GIDEntryPort   = 20
	GIDEntryType   = 24
	GIDEntryNetdev = 28
	GIDTypeRoCEv1  = 1
	GIDTypeRoCEv2  = 2
)

// struct ibv_comp_channel, ibv_cq, ibv_qp, ibv_mr.
const (
	ChannelFD = 8
	CQEntries = 28
	QPNum     = 52
	MRAddr    = 16
	MRLKey    = 36
	MRRKey    = 40
	MWRKey    = 16
	MWType1   = 1
	MWType2   = 2
)

// struct ibv_mw_bind, with its ibv_mw_bind_info.
const (
	BindSize   = 48
	BindID     = 0
	BindFlags  = 8
	BindMR     = 16
	BindAddr   = 24
	BindLength = 32
	BindAccess = 40
)

// struct ibv_sge, ibv_send_wr, ibv_recv_wr and ibv_wc.
const (
	SGESize   = 16
	SGEAddr   = 0
	SGELength = 8
	SGELKey   = 12

	SendSize       = 128
	SendID         = 0
	SendNext       = 8
	SendSGList     = 16
	SendNumSGE     = 24
	SendOpcode     = 28
	SendFlags      = 32
	SendImm        = 36 // network order
	SendRemoteAddr = 40
	SendRKey       = 48
	SendCompareAdd = 48
	SendSwap       = 56
	SendAtomicRKey = 64
	SendBindMW     = 80 // and from here on, of a request that binds a window
	SendBindRKey   = 88
	SendBindMR     = 96
	SendBindAddr   = 104
	SendBindLength = 112
	SendBindAccess = 120

	RecvSize   = 32
	RecvID     = 0
	RecvNext   = 8
	RecvSGList = 16
	RecvNumSGE = 24

	WCSize      = 48
	WCID        = 0
	WCStatus    = 8
	WCOpcode    = 12
	WCVendorErr = 16
	WCByteLen   = 20
	WCImm       = 24 // network order
	WCQPNum     = 28
	WCFlags     = 36
)

// struct ibv_qp_init_attr, ibv_qp_attr (with its ibv_ah_attr and that one's ibv_global_route) and ibv_async_event.
const (
	InitAttrSize      = 64
	InitAttrSendCQ    = 8
	InitAttrRecvCQ    = 16
	InitAttrMaxSend   = 32
	InitAttrMaxRecv   = 36
	InitAttrSendSGE   = 40
	InitAttrRecvSGE   = 44
	InitAttrMaxInline = 48
	InitAttrQPType    = 52
	InitAttrSigAll    = 56

	QPAttrSize         = 144
	QPAttrState        = 0
	QPAttrPathMTU      = 8
	QPAttrRQPSN        = 20
	QPAttrSQPSN        = 24
	QPAttrDestQPN      = 28
	QPAttrAccess       = 32
	QPAttrGID          = 56 + 0
	QPAttrGIDIndex     = 56 + 20
	QPAttrHopLimit     = 56 + 21
	QPAttrTrafficClass = 56 + 22
	QPAttrLID          = 56 + 24
	QPAttrServiceLevel = 56 + 26
	QPAttrIsGlobal     = 56 + 29
	QPAttrAHPort       = 56 + 30
	QPAttrPKeyIndex    = 120
	QPAttrMaxRdAtomic  = 126
	QPAttrMaxDest      = 127
	QPAttrMinRNR       = 128
	QPAttrPort         = 129
	QPAttrTimeout      = 130
	QPAttrRetry        = 131
	QPAttrRNRRetry     = 132

	AsyncEventSize    = 16
	AsyncEventElement = 0
	AsyncEventType    = 8
)

// Attributes of a queue pair that ibv_modify_qp(3) is to change.
const (
	MaskState       = 1 << 0
	MaskAccess      = 1 << 3
	MaskPKeyIndex   = 1 << 4
	MaskPort        = 1 << 5
	MaskAV          = 1 << 7
	MaskPathMTU     = 1 << 8
	MaskTimeout     = 1 << 9
	MaskRetry       = 1 << 10
	MaskRNRRetry    = 1 << 11
	MaskRQPSN       = 1 << 12
	MaskMaxRdAtomic = 1 << 13
	MaskMinRNR      = 1 << 15
	MaskSQPSN       = 1 << 16
	MaskMaxDest     = 1 << 17
	MaskDestQPN     = 1 << 20
)

// States and the type of a queue pair.
const (
	StateInit = 1
	StateRTR  = 2
	StateRTS  = 3
	StateErr  = 6
	TypeRC    = 2
)

// Opcodes and flags of send requests.
const (
	OpWrite       = 0
	OpWriteImm    = 1
	OpSend        = 2
	OpSendImm     = 3
	OpRead        = 4
	OpCompareSwap = 5
	OpFetchAdd    = 6
	OpBindMW      = 8
	OpSendInv     = 9

	FlagFence     = 1
	FlagSignaled  = 2
	FlagSolicited = 4
	FlagInline    = 8
)

// Statuses, opcodes and flags of completions.
const (
	WCSuccess     = 0
	WCLocLen      = 1
	WCLocQPOp     = 2
	WCLocProt     = 4
	WCFlushed     = 5
	WCLocAccess   = 8
	WCRemInvReq   = 9
	WCRemAccess   = 10
	WCRemOp       = 11
	WCRetryExc    = 12
	WCRNRRetryExc = 13
	WCRemAbort    = 16
	WCFatal       = 19
	WCRespTimeout = 20
	WCGeneral     = 21

	WCOpRecv    = 128
	WCOpRecvImm = 129
	WCWithImm   = 2
	WCChecked   = 4 // a checksum was right; rdma_rxe means WCWithInv by it, as IB_WC_WITH_INVALIDATE of the kernel's ib_verbs.h
	WCWithInv   = 8
)

// Access of a memory region, and of a queue pair.
const (
	AccessLocalWrite   = 1
	AccessRemoteWrite  = 2
	AccessRemoteRead   = 4
	AccessRemoteAtomic = 8
	AccessBindWindow   = 16
	AccessOnDemand     = 64
)

// Of devices and their ports.
const (
	AtomicNone   = 0
	AtomicGlobal = 2

	PortDown   = 1
	PortActive = 4

	LinkInfiniBand = 1
	LinkEthernet   = 2

	NodeRNIC = 4 // iWARP

	ForkUnneeded = 2
)

// Asynchronous events (enum ibv_event_type).
const (
	EventCQErr       = 0
	EventQPFatal     = 1
	EventQPReqErr    = 2
	EventQPAccessErr = 3
	EventCommEst     = 4
	EventSQDrained   = 5
	EventMigrated    = 6
	EventMigrateErr  = 7
	EventDeviceFatal = 8
	EventPortActive  = 9
	EventPortErr     = 10
	EventLIDChange   = 11
	EventPKeyChange  = 12
	EventSMChange    = 13
	EventLastWQE     = 16
	EventReregister  = 17
	EventGIDChange   = 18
)

// struct rdma_cm_id, rdma_cm_event, rdma_conn_param and rdma_event_channel, with the events.
const (
	CMIDVerbs      = 0
	CMIDQP         = 24
	CMIDPort       = 348
	CMEventID      = 0
	CMEventListen  = 8
	CMEventType    = 16
	CMEventStatus  = 20
	CMEventData    = 24
	CMEventDataLen = 32
	CMChannelFD    = 0

	ConnParamSize       = 24
	ConnParamData       = 0
	ConnParamDataLen    = 8
	ConnParamResources  = 9
	ConnParamDepth      = 10
	ConnParamRetry      = 12
	ConnParamRNRRetry   = 13
	ConnParamQPN        = 16
	CMPortSpaceTCP      = 0x106
	CMAddrResolved      = 0
	CMAddrError         = 1
	CMRouteResolved     = 2
	CMRouteError        = 3
	CMConnectRequest    = 4
	CMConnectResponse   = 5
	CMConnectError      = 6
	CMUnreachable       = 7
	CMRejected          = 8
	CMEstablished       = 9
	CMDisconnected      = 10
	CMDeviceRemoval     = 11
	CMTimewaitExit      = 15
	CMEventNumResources = 33
	CMOptionID          = 0
	CMOptionTOS         = 0
)
