//go:build amd64 || arm64

package verbs

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// reason is what a device's status means for a request. Devices differ in which they give: what could be known before was checked
// before, so that these are for what could not. Source: enum ibv_wc_status, ibv_poll_cq(3).
func (q *queue) reason(verb rdma.Verb, status uint32) *rdma.StatusError {
	e := &rdma.StatusError{Status: rdma.StatusProvider, Detail: "the device's status is " + statusText(status)}
	switch status {
	case abi.WCLocLen, abi.WCLocQPOp, abi.WCLocProt, abi.WCLocAccess:
		if e.Status = rdma.StatusLocal; verb == rdma.VerbReceive {
			e.Status = rdma.StatusTooLong // its buffer was looked at before: what else can be wrong is the message
		}
	case abi.WCRemInvReq, abi.WCRemOp:
		switch verb {
		case rdma.VerbSend:
			e.Status = rdma.StatusTooLong
		case rdma.VerbWrite, rdma.VerbWriteNotify, rdma.VerbRead, rdma.VerbCompareSwap, rdma.VerbFetchAdd:
			e.Status = rdma.StatusRemoteRight
		}
	case abi.WCRemAccess:
		// Range and rights are right by the peer's word, or the peer gave none.
		if e.Status = rdma.StatusRemoteKey; q.plain {
			e.Detail = "the key is unknown there, the range is outside, or the right was not granted; " + e.Detail
		}
	case abi.WCRetryExc, abi.WCRespTimeout, abi.WCRemAbort:
		e.Status = rdma.StatusPeerLost
	case abi.WCRNRRetryExc:
		e.Status = rdma.StatusNotReady
	}
	switch status {
	case abi.WCLocQPOp, abi.WCRetryExc, abi.WCRespTimeout, abi.WCFatal, abi.WCGeneral:
		look := q.dom.adapter.trouble
		if status == abi.WCLocQPOp { // as rdma_rxe says where there is no route any more
			look = q.dom.adapter.troubleSoon
		}
		if why := look(); why != "" { // so that nothing could go out
			e.Status, e.Detail = rdma.StatusPeerLost, why+"; "+e.Detail
		}
	}
	return e
}

// statusText is a status' name in the headers.
func statusText(status uint32) string {
	names := map[uint32]string{
		abi.WCLocLen: "IBV_WC_LOC_LEN_ERR", abi.WCLocQPOp: "IBV_WC_LOC_QP_OP_ERR", abi.WCLocProt: "IBV_WC_LOC_PROT_ERR",
		abi.WCFlushed: "IBV_WC_WR_FLUSH_ERR", abi.WCLocAccess: "IBV_WC_LOC_ACCESS_ERR", abi.WCRemInvReq: "IBV_WC_REM_INV_REQ_ERR",
		abi.WCRemAccess: "IBV_WC_REM_ACCESS_ERR", abi.WCRemOp: "IBV_WC_REM_OP_ERR", abi.WCRetryExc: "IBV_WC_RETRY_EXC_ERR",
		abi.WCRNRRetryExc: "IBV_WC_RNR_RETRY_EXC_ERR", abi.WCRemAbort: "IBV_WC_REM_ABORT_ERR", abi.WCFatal: "IBV_WC_FATAL_ERR",
		abi.WCRespTimeout: "IBV_WC_RESP_TIMEOUT_ERR", abi.WCGeneral: "IBV_WC_GENERAL_ERR",
	}
	if s := names[status]; s != "" {
		return s
	}
	return fmt.Sprintf("%d (enum ibv_wc_status)", status)
}
