// Package abi has what libibverbs.so.1 and librdmacm.so.1 read and write: offsets and sizes of their public structures
// as 64-bit Linux lays them out, and the numbers of their enumerations. The public structures have not changed since
// rdma-core 17, but for ibv_port_attr, which grew at its end; the test compiles a C file against the installed headers and
// compares each. Source: <infiniband/verbs.h>, <rdma/rdma_cma.h>.
package abi
