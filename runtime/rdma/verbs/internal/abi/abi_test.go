//go:build linux && (amd64 || arm64)

package abi

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// places are offsets as the headers' compiler has them: structure, field, what this package says.
var places = []struct {
	in, field string
	want      int
}{
	{"ibv_device", "node_type", DeviceNodeType}, {"ibv_device", "transport_type", DeviceTransportType}, {"ibv_device", "name", DeviceName}, {"ibv_device", "dev_name", DeviceFile}, {"ibv_context", "device", ContextDevice},
	{"ibv_context", "ops.alloc_mw", ContextAllocMW}, {"ibv_context", "ops.bind_mw", ContextBindMW}, {"ibv_context", "ops.dealloc_mw", ContextDeallocMW}, {"ibv_context", "abi_compat", ContextABI},
	{"ibv_device_attr_ex", "odp_caps.general_caps", DeviceAttrExODP}, {"ibv_device_attr_ex", "odp_caps.per_transport_caps.rc_odp_caps", DeviceAttrExRC},
	{"ibv_mw_bind", "wr_id", BindID}, {"ibv_mw_bind", "send_flags", BindFlags}, {"ibv_mw_bind", "bind_info.mr", BindMR}, {"ibv_mw_bind", "bind_info.addr", BindAddr},
	{"ibv_mw_bind", "bind_info.length", BindLength}, {"ibv_mw_bind", "bind_info.mw_access_flags", BindAccess},
	{"ibv_mw", "rkey", MWRKey}, {"ibv_send_wr", "invalidate_rkey", SendImm}, {"ibv_wc", "invalidated_rkey", WCImm},
	{"ibv_send_wr", "bind_mw.mw", SendBindMW}, {"ibv_send_wr", "bind_mw.rkey", SendBindRKey}, {"ibv_send_wr", "bind_mw.bind_info.mr", SendBindMR},
	{"ibv_send_wr", "bind_mw.bind_info.addr", SendBindAddr}, {"ibv_send_wr", "bind_mw.bind_info.length", SendBindLength},
	{"ibv_send_wr", "bind_mw.bind_info.mw_access_flags", SendBindAccess},
	{"ibv_context", "ops.poll_cq", ContextPollCQ}, {"ibv_context", "ops.req_notify_cq", ContextReqNotifyCQ},
	{"ibv_context", "ops.post_send", ContextPostSend}, {"ibv_context", "ops.post_recv", ContextPostRecv}, {"ibv_context", "async_fd", ContextAsyncFD},
	{"ibv_device_attr", "fw_ver", DeviceAttrFirmware}, {"ibv_device_attr", "max_mr_size", DeviceAttrMaxMRSize},
	{"ibv_device_attr", "max_qp_wr", DeviceAttrMaxQPWR}, {"ibv_device_attr", "device_cap_flags", DeviceAttrCapFlags},
	{"ibv_device_attr", "max_sge", DeviceAttrMaxSGE}, {"ibv_device_attr", "max_sge_rd", DeviceAttrMaxSGERead},
	{"ibv_device_attr", "max_cqe", DeviceAttrMaxCQE}, {"ibv_device_attr", "max_qp_rd_atom", DeviceAttrMaxQPRdAtom},
	{"ibv_device_attr", "max_qp_init_rd_atom", DeviceAttrMaxInitRdAtom}, {"ibv_device_attr", "atomic_cap", DeviceAttrAtomicCap},
	{"ibv_device_attr", "phys_port_cnt", DeviceAttrPorts},
	{"ibv_port_attr", "state", PortAttrState}, {"ibv_port_attr", "active_mtu", PortAttrActiveMTU}, {"ibv_port_attr", "gid_tbl_len", PortAttrGIDs},
	{"ibv_port_attr", "max_msg_sz", PortAttrMaxMsg}, {"ibv_port_attr", "lid", PortAttrLID}, {"ibv_port_attr", "link_layer", PortAttrLinkLayer},
	{"ibv_gid_entry", "gid", GIDEntryGID}, {"ibv_gid_entry", "gid_index", GIDEntryIndex}, {"ibv_gid_entry", "port_num", GIDEntryPort},
	{"ibv_gid_entry", "gid_type", GIDEntryType}, {"ibv_gid_entry", "ndev_ifindex", GIDEntryNetdev},
	{"ibv_comp_channel", "fd", ChannelFD}, {"ibv_cq", "cqe", CQEntries}, {"ibv_qp", "qp_num", QPNum},
	{"ibv_mr", "addr", MRAddr}, {"ibv_mr", "lkey", MRLKey}, {"ibv_mr", "rkey", MRRKey},
	{"ibv_sge", "addr", SGEAddr}, {"ibv_sge", "length", SGELength}, {"ibv_sge", "lkey", SGELKey},
	{"ibv_send_wr", "wr_id", SendID}, {"ibv_send_wr", "next", SendNext}, {"ibv_send_wr", "sg_list", SendSGList},
	{"ibv_send_wr", "num_sge", SendNumSGE}, {"ibv_send_wr", "opcode", SendOpcode}, {"ibv_send_wr", "send_flags", SendFlags},
	{"ibv_send_wr", "imm_data", SendImm}, {"ibv_send_wr", "wr.rdma.remote_addr", SendRemoteAddr}, {"ibv_send_wr", "wr.rdma.rkey", SendRKey},
	{"ibv_send_wr", "wr.atomic.remote_addr", SendRemoteAddr}, {"ibv_send_wr", "wr.atomic.compare_add", SendCompareAdd},
	{"ibv_send_wr", "wr.atomic.swap", SendSwap}, {"ibv_send_wr", "wr.atomic.rkey", SendAtomicRKey},
	{"ibv_recv_wr", "wr_id", RecvID}, {"ibv_recv_wr", "next", RecvNext}, {"ibv_recv_wr", "sg_list", RecvSGList}, {"ibv_recv_wr", "num_sge", RecvNumSGE},
	{"ibv_wc", "wr_id", WCID}, {"ibv_wc", "status", WCStatus}, {"ibv_wc", "opcode", WCOpcode}, {"ibv_wc", "vendor_err", WCVendorErr},
	{"ibv_wc", "byte_len", WCByteLen}, {"ibv_wc", "imm_data", WCImm}, {"ibv_wc", "qp_num", WCQPNum}, {"ibv_wc", "wc_flags", WCFlags},
	{"ibv_qp_init_attr", "send_cq", InitAttrSendCQ}, {"ibv_qp_init_attr", "recv_cq", InitAttrRecvCQ}, {"ibv_qp_init_attr", "cap.max_send_wr", InitAttrMaxSend},
	{"ibv_qp_init_attr", "cap.max_recv_wr", InitAttrMaxRecv}, {"ibv_qp_init_attr", "cap.max_send_sge", InitAttrSendSGE},
	{"ibv_qp_init_attr", "cap.max_recv_sge", InitAttrRecvSGE}, {"ibv_qp_init_attr", "cap.max_inline_data", InitAttrMaxInline},
	{"ibv_qp_init_attr", "qp_type", InitAttrQPType}, {"ibv_qp_init_attr", "sq_sig_all", InitAttrSigAll},
	{"ibv_qp_attr", "qp_state", QPAttrState}, {"ibv_qp_attr", "path_mtu", QPAttrPathMTU}, {"ibv_qp_attr", "rq_psn", QPAttrRQPSN},
	{"ibv_qp_attr", "sq_psn", QPAttrSQPSN}, {"ibv_qp_attr", "dest_qp_num", QPAttrDestQPN}, {"ibv_qp_attr", "qp_access_flags", QPAttrAccess},
	{"ibv_qp_attr", "ah_attr.grh.dgid", QPAttrGID}, {"ibv_qp_attr", "ah_attr.grh.sgid_index", QPAttrGIDIndex},
	{"ibv_qp_attr", "ah_attr.grh.hop_limit", QPAttrHopLimit}, {"ibv_qp_attr", "ah_attr.grh.traffic_class", QPAttrTrafficClass},
	{"ibv_qp_attr", "ah_attr.dlid", QPAttrLID}, {"ibv_qp_attr", "ah_attr.sl", QPAttrServiceLevel}, {"ibv_qp_attr", "ah_attr.is_global", QPAttrIsGlobal},
	{"ibv_qp_attr", "ah_attr.port_num", QPAttrAHPort}, {"ibv_qp_attr", "pkey_index", QPAttrPKeyIndex}, {"ibv_qp_attr", "max_rd_atomic", QPAttrMaxRdAtomic},
	{"ibv_qp_attr", "max_dest_rd_atomic", QPAttrMaxDest}, {"ibv_qp_attr", "min_rnr_timer", QPAttrMinRNR}, {"ibv_qp_attr", "port_num", QPAttrPort},
	{"ibv_qp_attr", "timeout", QPAttrTimeout}, {"ibv_qp_attr", "retry_cnt", QPAttrRetry}, {"ibv_qp_attr", "rnr_retry", QPAttrRNRRetry},
	{"ibv_async_event", "element", AsyncEventElement}, {"ibv_async_event", "event_type", AsyncEventType},
	{"rdma_cm_id", "verbs", CMIDVerbs}, {"rdma_cm_id", "qp", CMIDQP}, {"rdma_cm_id", "port_num", CMIDPort},
	{"rdma_cm_event", "id", CMEventID}, {"rdma_cm_event", "listen_id", CMEventListen}, {"rdma_cm_event", "event", CMEventType},
	{"rdma_cm_event", "status", CMEventStatus}, {"rdma_cm_event", "param.conn.private_data", CMEventData},
	{"rdma_cm_event", "param.conn.private_data_len", CMEventDataLen}, {"rdma_cm_event", "param.conn.responder_resources", CMEventNumResources},
	{"rdma_event_channel", "fd", CMChannelFD},
	{"rdma_conn_param", "private_data", ConnParamData}, {"rdma_conn_param", "private_data_len", ConnParamDataLen},
	{"rdma_conn_param", "responder_resources", ConnParamResources}, {"rdma_conn_param", "initiator_depth", ConnParamDepth},
	{"rdma_conn_param", "retry_count", ConnParamRetry}, {"rdma_conn_param", "rnr_retry_count", ConnParamRNRRetry}, {"rdma_conn_param", "qp_num", ConnParamQPN},
}

// sizes are of structures that this program makes.
var sizes = map[string]int{
	"ibv_device_attr": DeviceAttrSize, "ibv_sge": SGESize, "ibv_gid_entry": GIDEntrySize, "ibv_send_wr": SendSize, "ibv_recv_wr": RecvSize, "ibv_wc": WCSize, "ibv_mw_bind": BindSize,
	"ibv_qp_init_attr": InitAttrSize, "ibv_qp_attr": QPAttrSize, "ibv_async_event": AsyncEventSize, "rdma_conn_param": ConnParamSize,
}

// numbers are of enumerations.
var numbers = map[string]int{
	"IBV_SYSFS_NAME_MAX": DeviceNameLen, "IBV_QP_STATE": MaskState, "IBV_QP_ACCESS_FLAGS": MaskAccess, "IBV_QP_PKEY_INDEX": MaskPKeyIndex, "IBV_QP_PORT": MaskPort,
	"IBV_QP_AV": MaskAV, "IBV_QP_PATH_MTU": MaskPathMTU, "IBV_QP_TIMEOUT": MaskTimeout, "IBV_QP_RETRY_CNT": MaskRetry,
	"IBV_QP_RNR_RETRY": MaskRNRRetry, "IBV_QP_RQ_PSN": MaskRQPSN, "IBV_QP_MAX_QP_RD_ATOMIC": MaskMaxRdAtomic, "IBV_QP_MIN_RNR_TIMER": MaskMinRNR,
	"IBV_QP_SQ_PSN": MaskSQPSN, "IBV_QP_MAX_DEST_RD_ATOMIC": MaskMaxDest, "IBV_QP_DEST_QPN": MaskDestQPN,
	"IBV_QPS_INIT": StateInit, "IBV_QPS_RTR": StateRTR, "IBV_QPS_RTS": StateRTS, "IBV_QPS_ERR": StateErr, "IBV_QPT_RC": TypeRC,
	"IBV_WR_RDMA_WRITE": OpWrite, "IBV_WR_RDMA_WRITE_WITH_IMM": OpWriteImm, "IBV_WR_SEND": OpSend, "IBV_WR_SEND_WITH_IMM": OpSendImm,
	"IBV_WR_RDMA_READ": OpRead, "IBV_WR_ATOMIC_CMP_AND_SWP": OpCompareSwap, "IBV_WR_ATOMIC_FETCH_AND_ADD": OpFetchAdd,
	"IBV_SEND_FENCE": FlagFence, "IBV_SEND_SIGNALED": FlagSignaled, "IBV_SEND_SOLICITED": FlagSolicited, "IBV_SEND_INLINE": FlagInline,
	"IBV_WC_SUCCESS": WCSuccess, "IBV_WC_LOC_LEN_ERR": WCLocLen, "IBV_WC_LOC_QP_OP_ERR": WCLocQPOp, "IBV_WC_LOC_PROT_ERR": WCLocProt,
	"IBV_WC_WR_FLUSH_ERR": WCFlushed, "IBV_WC_LOC_ACCESS_ERR": WCLocAccess, "IBV_WC_REM_INV_REQ_ERR": WCRemInvReq, "IBV_WC_REM_ACCESS_ERR": WCRemAccess,
	"IBV_WC_REM_OP_ERR": WCRemOp, "IBV_WC_RETRY_EXC_ERR": WCRetryExc, "IBV_WC_RNR_RETRY_EXC_ERR": WCRNRRetryExc, "IBV_WC_REM_ABORT_ERR": WCRemAbort,
	"IBV_WC_FATAL_ERR": WCFatal, "IBV_WC_RESP_TIMEOUT_ERR": WCRespTimeout, "IBV_WC_GENERAL_ERR": WCGeneral, "IBV_WC_RECV": WCOpRecv, "IBV_WC_RECV_RDMA_WITH_IMM": WCOpRecvImm,
	"IBV_WR_BIND_MW": OpBindMW, "IBV_WR_SEND_WITH_INV": OpSendInv, "IBV_WC_WITH_INV": WCWithInv, "IBV_WC_IP_CSUM_OK": WCChecked, "IBV_MW_TYPE_1": MWType1, "IBV_MW_TYPE_2": MWType2,
	"IBV_DEVICE_MEM_WINDOW": CapWindow, "IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B": CapWindow2, "IBV_ACCESS_MW_BIND": AccessBindWindow,
	"IBV_ODP_SUPPORT": ODPSupport, "IBV_ODP_SUPPORT_SEND": ODPSend, "IBV_ODP_SUPPORT_RECV": ODPRecv, "IBV_ODP_SUPPORT_WRITE": ODPWrite,
	"IBV_ODP_SUPPORT_READ": ODPRead, "IBV_ODP_SUPPORT_ATOMIC": ODPAtomic,
	"IBV_EVENT_SQ_DRAINED": EventSQDrained, "IBV_EVENT_PATH_MIG": EventMigrated, "IBV_EVENT_PATH_MIG_ERR": EventMigrateErr, "IBV_EVENT_QP_LAST_WQE_REACHED": EventLastWQE,
	"IBV_EVENT_PKEY_CHANGE": EventPKeyChange, "IBV_EVENT_SM_CHANGE": EventSMChange, "IBV_EVENT_CLIENT_REREGISTER": EventReregister,
	"IBV_WC_WITH_IMM": WCWithImm, "IBV_ACCESS_LOCAL_WRITE": AccessLocalWrite, "IBV_ACCESS_REMOTE_WRITE": AccessRemoteWrite,
	"IBV_ACCESS_REMOTE_READ": AccessRemoteRead, "IBV_ACCESS_REMOTE_ATOMIC": AccessRemoteAtomic, "IBV_ACCESS_ON_DEMAND": AccessOnDemand,
	"IBV_ATOMIC_NONE": AtomicNone, "IBV_ATOMIC_GLOB": AtomicGlobal, "IBV_PORT_DOWN": PortDown, "IBV_PORT_ACTIVE": PortActive,
	"IBV_LINK_LAYER_INFINIBAND": LinkInfiniBand, "IBV_LINK_LAYER_ETHERNET": LinkEthernet, "IBV_NODE_RNIC": NodeRNIC,
	"IBV_EVENT_CQ_ERR": EventCQErr, "IBV_EVENT_QP_FATAL": EventQPFatal, "IBV_EVENT_QP_REQ_ERR": EventQPReqErr, "IBV_EVENT_QP_ACCESS_ERR": EventQPAccessErr,
	"IBV_EVENT_COMM_EST": EventCommEst, "IBV_EVENT_DEVICE_FATAL": EventDeviceFatal, "IBV_EVENT_PORT_ACTIVE": EventPortActive, "IBV_EVENT_PORT_ERR": EventPortErr,
	"IBV_EVENT_LID_CHANGE": EventLIDChange, "IBV_EVENT_GID_CHANGE": EventGIDChange,
	"IBV_GID_TYPE_ROCE_V1": GIDTypeRoCEv1, "IBV_GID_TYPE_ROCE_V2": GIDTypeRoCEv2,
	"RDMA_PS_TCP": CMPortSpaceTCP, "RDMA_CM_EVENT_ADDR_RESOLVED": CMAddrResolved, "RDMA_CM_EVENT_ADDR_ERROR": CMAddrError,
	"RDMA_CM_EVENT_ROUTE_RESOLVED": CMRouteResolved, "RDMA_CM_EVENT_ROUTE_ERROR": CMRouteError, "RDMA_CM_EVENT_CONNECT_REQUEST": CMConnectRequest, "RDMA_CM_EVENT_CONNECT_RESPONSE": CMConnectResponse,
	"RDMA_CM_EVENT_CONNECT_ERROR": CMConnectError, "RDMA_CM_EVENT_UNREACHABLE": CMUnreachable, "RDMA_CM_EVENT_REJECTED": CMRejected,
	"RDMA_CM_EVENT_ESTABLISHED": CMEstablished, "RDMA_CM_EVENT_DISCONNECTED": CMDisconnected, "RDMA_CM_EVENT_DEVICE_REMOVAL": CMDeviceRemoval,
	"RDMA_CM_EVENT_TIMEWAIT_EXIT": CMTimewaitExit, "RDMA_OPTION_ID": CMOptionID, "RDMA_OPTION_ID_TOS": CMOptionTOS,
}

// TestHeaders compiles a program that knows the installed headers, and wants it to agree with this package.
func TestHeaders(t *testing.T) {
	var c bytes.Buffer
	c.WriteString("#include <stddef.h>\n#include <stdio.h>\n#include <infiniband/verbs.h>\n#include <rdma/rdma_cma.h>\nint main(void) {\n")
	same := func(what string, expr string, want int) {
		fmt.Fprintf(&c, "if ((long long)(%s) != %d) printf(\"%s is %%lld here, and the package says %d\\n\", (long long)(%s));\n", expr, want, what, want, expr)
	}
	for _, p := range places {
		same("the place of "+p.field+" in struct "+p.in, fmt.Sprintf("offsetof(struct %s, %s)", p.in, p.field), p.want)
	}
	for name, want := range sizes {
		same("the size of struct "+name, "sizeof(struct "+name+")", want)
	}
	for name, want := range numbers {
		same(name, name, want)
	}
	same("that struct ibv_device_attr_ex has room", fmt.Sprintf("sizeof(struct ibv_device_attr_ex) <= %d", DeviceAttrExRoom), 1)
	same("that struct ibv_device_attr_ex has grown at its end", fmt.Sprintf("sizeof(struct ibv_device_attr_ex) >= %d", DeviceAttrExSize), 1)
	const around = "(long long)offsetof(struct verbs_context, %s) - (long long)offsetof(struct verbs_context, context)"
	same("where verbs_context has its size", fmt.Sprintf(around, "sz"), ExtendedSize)
	same("where verbs_context has query_device_ex", fmt.Sprintf(around, "query_device_ex"), ExtendedQueryDevice)
	same("how large a verbs_context with query_device_ex is", "sizeof(struct verbs_context) - offsetof(struct verbs_context, query_device_ex)", ExtendedQueryDeviceIn)
	same("what an extended context says", "__VERBS_ABI_IS_EXTENDED == (void *)~0ull", 1)
	same("that struct ibv_port_attr has room", fmt.Sprintf("sizeof(struct ibv_port_attr) <= %d", PortAttrRoom), 1)
	c.WriteString("#ifdef HAVE_FORK_UNNEEDED\n")
	same("IBV_FORK_UNNEEDED", "IBV_FORK_UNNEEDED", ForkUnneeded)
	c.WriteString("#endif\nreturn 0; }\n")

	dir := t.TempDir()
	source, program := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if err := os.WriteFile(source, c.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-o", program, source}
	if raw, err := os.ReadFile("/usr/include/infiniband/verbs.h"); err == nil && bytes.Contains(raw, []byte("IBV_FORK_UNNEEDED")) {
		args = append([]string{"-DHAVE_FORK_UNNEEDED"}, args...)
	}
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		lacks(t, "a C compiler with the headers of rdma-core (Debian: gcc, libibverbs-dev, librdmacm-dev): %v: %s", err, firstLine(out))
	}
	out, err := exec.Command(program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(out) > 0 {
		t.Errorf("the headers differ:\n%s", out)
	}
}

// lacks skips a test for want of something, except where nothing may be skipped.
func lacks(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("this needs "+format, args...)
	}
	t.Skipf("this needs "+format, args...)
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

// TestBlock stores and loads.
func TestBlock(t *testing.T) {
	b, err := NewBlock(100)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	b.Put64(8, 0x0102030405060708)
	b.Put32(16, 0x01020304)
	b.Put16(20, 0x0102)
	b.Put8(22, 7)
	b.PutText(32, "rxe0")
	same := At(b.Addr(0))
	if same.U64(8) != 0x0102030405060708 || same.U32(16) != 0x01020304 || same.U16(20) != 0x0102 || same.U8(22) != 7 || same.Text(32, 64) != "rxe0" {
		t.Errorf("what was stored is not there: % x", same.Bytes(0, 40))
	}
	b.Clear(8, 8)
	if b.U64(8) != 0 || b.U32(16) == 0 {
		t.Error("Clear clears something else")
	}
}
