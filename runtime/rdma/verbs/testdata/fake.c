// A stand-in for libibverbs.so.1, for tests on machines without a device: one device, "fake0", whose queue pairs reach each
// other within the process. It does what a reliable connection does, at once and under one lock: rights, bounds, receives
// that are not there yet, flushing, memory windows, memory on demand and by file. It wants its objects destroyed in order, and counts what was not. With -DBARE it
// is of an old rdma-core: no windows, memory on demand or by file, addresses of one's own choice, nor a word on fork.
// With -DINSTANT it does nothing but complete, to measure what stands above it. With -DIWARP it is a device of iWARP, for which it
// stands for librdmacm.so.1, too (fakecm.h): no immediate data, no atomics, nor windows; writes and messages complete when they are handed over, before
// reads that were posted earlier; what the peer refuses, a message without a receive, and an accepting side that speaks first end the connection.
//
// It is compiled by the tests: cc -shared -fPIC -O2 -Wl,-Bsymbolic -o libfakeverbs.so fake.c

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port

enum { MAX_QP = 1 << 14, MAX_MR = 1 << 16, MAX_WR = 1 << 14, MAX_MW = 1 << 12, WINDOW = 1 << 31, INLINE = 128 };

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;

struct region {
	struct ibv_mr mr;
	uint64_t iova;
	int access, windows;
	void *mapped; // of a file, which stands for a dma-buf
};

struct window {
	struct ibv_mw mw;
	struct region *mr; // that it is bound to; NULL: to none
	uint32_t qpn;
	uint64_t addr, length;
	int access;
};

struct queue {
	struct ibv_cq cq;
	struct ibv_wc *wc;
	unsigned head, tail, size;
	int armed, solicited; // for solicited ones only
};

struct channel {
	struct ibv_comp_channel ch;
	int cqs;
};

struct send {
	struct ibv_send_wr wr;
	struct ibv_sge sge[6];
	int inlined, length;
	char data[INLINE];
};

struct recv {
	uint64_t id;
	struct ibv_sge sge[2];
	int num_sge;
};

struct pair {
	struct ibv_qp qp;
	enum ibv_qp_state state;
	uint32_t peer;
	struct queue *scq, *rcq;
	struct send *sq;
	struct recv *rq;
	unsigned shead, stail, ssize, rhead, rtail, rsize;
	void *cm;         // of a connection of iWARP
	int mute;         // its peer is to speak first
	unsigned late;    // reads that are done and have not completed
	struct ibv_wc reads[16];
};

static struct pair *pairs[MAX_QP];
static struct region *regions[MAX_MR];
static struct window *windows[MAX_MW];
static uint32_t next_pair = 16, next_key = 1;
#ifdef IWARP
#define NODE IBV_NODE_RNIC
#else
#define NODE IBV_NODE_CA
#endif
static struct ibv_device device = {.node_type = NODE, .transport_type = IBV_TRANSPORT_IB, .name = "fake0"};
static int async_pipe[2];
unsigned fake_demanded; // registrations on demand so far
unsigned fake_down;     // the port is: nothing is acknowledged
unsigned fake_posts, fake_polls; // calls
unsigned fake_short;    // completion queues get half of what was asked for
unsigned fake_forks;    // calls of ibv_fork_init
struct ibv_qp_attr fake_rtr, fake_rts; // what queue pairs were last moved to these states with
unsigned fake_still;    // requests are taken, and nothing is done with them; 2: nor are they flushed
unsigned fake_limited;  // 1: registering obeys RLIMIT_MEMLOCK, of one registration each; 2: there is no memory at all
unsigned fake_parents;  // calls that would have destroyed what others hang on
unsigned fake_undrained; // requests and receives whose end nobody had polled when their queue pair was destroyed
unsigned fake_destroyed; // queue pairs
unsigned fake_windows;  // how many windows there may be, 0: many
unsigned fake_unbound;  // windows of type 1 cannot be bound
unsigned fake_held;     // windows cannot be given back
unsigned fake_pinned, fake_unpinned; // registrations so far, and their ends
unsigned fake_mislaid;  // what is posted to a queue pair in its error state is, as siw does, 1: taken and never ended; 2: not taken
unsigned fake_rude;     // messages that came before the side that accepted may speak
unsigned fake_gone;     // the kernel has taken the device away: nothing is done, and giving back gives EIO

// refuse counts a call in a wrong order, and refuses it.
static int refuse(void)
{
	__atomic_add_fetch(&fake_parents, 1, __ATOMIC_SEQ_CST);
	return EBUSY;
}

static void push(struct queue *q, struct ibv_wc *wc, int solicited)
{
	if (q->tail - q->head == q->size)
		abort(); // it was made too small: real devices lose completions
	q->wc[q->tail++ % q->size] = *wc;
	if (q->armed && q->cq.channel && (!q->solicited || solicited || wc->status)) {
		void *p = &q->cq;
		q->armed = 0;
		if (write(q->cq.channel->refcnt, &p, sizeof p) < 0)
			abort();
	}
}

// behind is the window's region, if the key is a window's and lets the queue pair do that there.
static struct region *behind(uint32_t key, struct pair *p, uint64_t addr, uint64_t len, int access)
{
	uint32_t i = (key & ~WINDOW) >> 8;
	struct window *w = key & WINDOW && i < MAX_MW ? windows[i] : NULL;
	if (!w || !w->mr || w->mw.rkey != key || w->mw.pd != p->qp.pd || (w->mw.type == IBV_MW_TYPE_2 && w->qpn != p->qp.qp_num) || (access & ~w->access) || addr < w->addr || len > w->length ||
	    addr - w->addr > w->length - len)
		return NULL;
	return w->mr;
}

// unbind ends a window's key.
static void unbind(struct window *w)
{
	if (w->mr)
		w->mr->windows--;
	w->mr = NULL;
}

// bind_window does a request that binds a window. It returns a status. One of type 1 is bound by bind_mw, which has given it its key already.
static int bind_window(struct pair *p, struct ibv_send_wr *wr)
{
	struct window *w = (struct window *)wr->bind_mw.mw;
	struct region *r = (struct region *)wr->bind_mw.bind_info.mr;
	if (w->mw.type == IBV_MW_TYPE_1 && fake_unbound)
		return IBV_WC_MW_BIND_ERR;
	if (w->mr || !(r->access & IBV_ACCESS_MW_BIND) || (wr->bind_mw.rkey ^ w->mw.rkey) >> 8 || (w->mw.type == IBV_MW_TYPE_2 && wr->bind_mw.rkey == w->mw.rkey) ||
	    r->mr.pd != p->qp.pd || wr->bind_mw.bind_info.addr < r->iova || wr->bind_mw.bind_info.length > r->mr.length)
		return IBV_WC_MW_BIND_ERR;
	*w = (struct window){w->mw, r, w->mw.type == IBV_MW_TYPE_2 ? p->qp.qp_num : 0, wr->bind_mw.bind_info.addr, wr->bind_mw.bind_info.length, wr->bind_mw.bind_info.mw_access_flags};
	w->mw.rkey = wr->bind_mw.rkey;
	r->windows++;
	return 0;
}

// invalidate ends a key of the queue pair's window that its peer names. It returns a status for the peer.
static int invalidate(struct pair *p, uint32_t key)
{
	if (windows[(key & ~WINDOW) >> 8 & (MAX_MW - 1)] && windows[(key & ~WINDOW) >> 8 & (MAX_MW - 1)]->mw.type == IBV_MW_TYPE_1)
		return IBV_WC_REM_ACCESS_ERR; // InfiniBand volume 1, o10-37.2.26
	if (!behind(key, p, windows[(key & ~WINDOW) >> 8 & (MAX_MW - 1)] ? windows[(key & ~WINDOW) >> 8 & (MAX_MW - 1)]->addr : 0, 0, 0))
		return IBV_WC_REM_ACCESS_ERR;
	unbind(windows[(key & ~WINDOW) >> 8]);
	return 0;
}

static struct region *find(uint32_t key, struct ibv_pd *pd, uint64_t addr, uint64_t len, int access, int *why)
{
	struct region *r = key >> 8 < MAX_MR ? regions[key >> 8] : NULL;
	*why = 0;
	if (!r || r->mr.lkey != key || r->mr.pd != pd || (access & ~r->access) || addr < r->iova || len > r->mr.length ||
	    addr - r->iova > r->mr.length - len)
		return NULL;
	return r;
}

static void *at(struct region *r, uint64_t addr) { return (char *)r->mr.addr + (addr - r->iova); }

static void complete(struct queue *q, struct pair *p, uint64_t id, int status, int opcode, uint32_t bytes, uint32_t imm, int flags)
{
	struct ibv_wc wc = {.wr_id = id, .status = status, .opcode = opcode, .byte_len = bytes, .imm_data = imm, .wc_flags = flags, .qp_num = p->qp.qp_num};
	push(q, &wc, 0);
}

// catchup completes the reads of iWARP that are done: writes and messages behind them have completed before.
static void catchup(struct pair *p)
{
	for (unsigned i = 0; i < p->late; i++)
		push(p->scq, &p->reads[i], 0);
	p->late = 0;
}

static void part(struct pair *p);

static void flush(struct pair *p)
{
	catchup(p);
	if (p->cm)
		part(p);
	p->state = p->qp.state = IBV_QPS_ERR;
	while (p->shead != p->stail)
		complete(p->scq, p, p->sq[p->shead++ % p->ssize].wr.wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0, 0, 0);
	while (p->rhead != p->rtail)
		complete(p->rcq, p, p->rq[p->rhead++ % p->rsize].id, IBV_WC_WR_FLUSH_ERR, 0, 0, 0, 0);
}

// gather copies the local data of a request out, or what comes back in.
static int local(struct pair *p, struct send *s, char *far, int in, uint32_t *total)
{
	int why;
	*total = s->inlined ? s->length : 0;
	if (s->inlined) {
		if (far)
			memcpy(far, s->data, s->length);
		return 0;
	}
	for (int i = 0; i < s->wr.num_sge; i++) {
#ifdef IWARP
		int sink = IBV_ACCESS_REMOTE_WRITE;
#else
		int sink = IBV_ACCESS_LOCAL_WRITE;
#endif
		struct region *r = find(s->sge[i].lkey, p->qp.pd, s->sge[i].addr, s->sge[i].length, in ? sink : 0, &why);
		if (!r)
			return IBV_WC_LOC_PROT_ERR;
		if (far && in)
			memcpy(at(r, s->sge[i].addr), far + *total, s->sge[i].length);
		else if (far)
			memcpy(far + *total, at(r, s->sge[i].addr), s->sge[i].length);
		*total += s->sge[i].length;
	}
	return 0;
}

static uint32_t length(struct send *s)
{
	uint32_t n = s->inlined ? s->length : 0;
	for (int i = 0; !s->inlined && i < s->wr.num_sge; i++)
		n += s->sge[i].length;
	return n;
}

// remote does a write, a read or an atomic at the peer. It returns a status.
static int remote(struct pair *p, struct pair *peer, struct send *s)
{
	uint32_t total;
	int why, need = IBV_ACCESS_REMOTE_WRITE, in = 0;
	uint64_t addr = s->wr.wr.rdma.remote_addr;
	uint32_t key = s->wr.wr.rdma.rkey, n = length(s);
	int atomic = s->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || s->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	if (s->wr.opcode == IBV_WR_RDMA_READ)
		need = IBV_ACCESS_REMOTE_READ, in = 1;
	if (atomic)
		need = IBV_ACCESS_REMOTE_ATOMIC, key = s->wr.wr.atomic.rkey, in = 1;
	if (local(p, s, NULL, in, &total))
		return IBV_WC_LOC_PROT_ERR;
	struct region *r = key & WINDOW ? behind(key, peer, addr, n, need) : find(key, peer->qp.pd, addr, n, need, &why);
	if (!r || (atomic && addr % 8))
		return IBV_WC_REM_ACCESS_ERR;
	if (!atomic)
		return local(p, s, at(r, addr), in, &total);
	uint64_t *word = at(r, addr), before = *word;
	if (s->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		*word += s->wr.wr.atomic.compare_add;
	else if (before == s->wr.wr.atomic.compare_add)
		*word = s->wr.wr.atomic.swap;
	return local(p, s, (char *)&before, 1, &total);
}

#ifdef IWARP
// scatter puts a message into a receive. It returns a status of the receive's.
static int scatter(struct pair *peer, struct recv *rv, const char *from, uint32_t n)
{
	int why;
	for (int i = 0; i < rv->num_sge; i++) {
		struct region *r = find(rv->sge[i].lkey, peer->qp.pd, rv->sge[i].addr, rv->sge[i].length, IBV_ACCESS_LOCAL_WRITE, &why);
		uint32_t k = n < rv->sge[i].length ? n : rv->sge[i].length;
		if (!r)
			return IBV_WC_LOC_PROT_ERR;
		memcpy(at(r, rv->sge[i].addr), from, k);
		from += k;
		n -= k;
	}
	return n ? IBV_WC_LOC_LEN_ERR : 0;
}

// deliver does a message of iWARP. It reports whether the connection goes on.
static int deliver(struct pair *p, struct pair *peer, struct send *s)
{
	static char room[1 << 20];
	uint32_t n = length(s), total;
	if (p->mute) {
		fake_rude++;
		return 0;
	}
	if (n > sizeof room || local(p, s, room, 0, &total) || peer->rhead == peer->rtail)
		return 0;
	struct recv *rv = &peer->rq[peer->rhead++ % peer->rsize];
	int status = scatter(peer, rv, room, n);
	struct ibv_wc wc = {.wr_id = rv->id, .status = status, .opcode = IBV_WC_RECV, .byte_len = n, .qp_num = peer->qp.qp_num};
	push(peer->rcq, &wc, s->wr.send_flags & IBV_SEND_SOLICITED);
	return !status;
}

static void progress(struct pair *p)
{
	while (p->shead != p->stail) {
		struct send *s = &p->sq[p->shead % p->ssize];
		struct pair *peer = p->peer < MAX_QP ? pairs[p->peer] : NULL;
		int read = s->wr.opcode == IBV_WR_RDMA_READ, goes_on;
		if (p->state == IBV_QPS_ERR) {
			flush(p);
			return;
		}
		if (fake_gone || fake_still || !peer)
			return;
		uint32_t n = length(s);
		goes_on = s->wr.opcode == IBV_WR_SEND ? deliver(p, peer, s) : !p->mute && !remote(p, peer, s);
		p->shead++;
		if (read && goes_on && p->late < 16)
			p->reads[p->late++] = (struct ibv_wc){.wr_id = s->wr.wr_id, .byte_len = n, .qp_num = p->qp.qp_num};
		else if (read && !goes_on)
			complete(p->scq, p, s->wr.wr_id, IBV_WC_REM_ACCESS_ERR, 0, n, 0, 0);
		else
			complete(p->scq, p, s->wr.wr_id, 0, 0, n, 0, 0);
		peer->mute = 0;
		if (!goes_on) {
			flush(p);
			return;
		}
	}
	catchup(p);
}
#else
static void progress(struct pair *p)
{
	while (p->shead != p->stail) {
		struct send *s = &p->sq[p->shead % p->ssize];
		struct pair *peer = p->peer < MAX_QP ? pairs[p->peer] : NULL;
		int ends = s->wr.opcode == IBV_WR_SEND_WITH_INV, sends = ends || s->wr.opcode == IBV_WR_SEND || s->wr.opcode == IBV_WR_SEND_WITH_IMM, why;
		int notes = s->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM, status = 0;
		uint32_t n = length(s), total;
		if (p->state == IBV_QPS_ERR) {
			flush(p);
			return;
		}
		if (s->wr.opcode == IBV_WR_BIND_MW) {
			status = bind_window(p, &s->wr);
			p->shead++;
			complete(p->scq, p, s->wr.wr_id, status, IBV_WC_BIND_MW, 0, 0, 0);
			if (status) {
				flush(p);
				return;
			}
			continue;
		}
		if (fake_gone || fake_still)
			return;
		if (fake_down) {
			p->shead++;
			complete(p->scq, p, s->wr.wr_id, IBV_WC_RETRY_EXC_ERR, 0, 0, 0, 0);
			flush(p);
			return;
		}
		if (!peer || (peer->state != IBV_QPS_RTR && peer->state != IBV_QPS_RTS))
			return; // nobody answers
		if ((sends || notes) && peer->rhead == peer->rtail)
			return; // not ready
		struct recv *rv = &peer->rq[peer->rhead % peer->rsize];
		if (sends) {
			struct region *r = find(rv->sge[0].lkey, peer->qp.pd, rv->sge[0].addr, rv->sge[0].length, IBV_ACCESS_LOCAL_WRITE, &why);
			if (!r || rv->sge[0].length < n) {
				peer->rhead++;
				complete(peer->rcq, peer, rv->id, r ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR, IBV_WC_RECV, 0, 0, 0);
				status = r ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR;
			} else {
				status = local(p, s, at(r, rv->sge[0].addr), 0, &total);
				if (!status && ends)
					status = invalidate(peer, s->wr.invalidate_rkey);
			}
		} else if (!notes || n > 0) {
			status = remote(p, peer, s);
		}
		if (!status && (sends || notes)) {
			peer->rhead++;
			struct ibv_wc wc = {.wr_id = rv->id, .opcode = sends ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM, .byte_len = n, .imm_data = s->wr.imm_data,
				.wc_flags = ends ? IBV_WC_WITH_INV : s->wr.opcode == IBV_WR_SEND ? 0 : IBV_WC_WITH_IMM, .qp_num = peer->qp.qp_num};
			push(peer->rcq, &wc, s->wr.send_flags & IBV_SEND_SOLICITED);
		}
		p->shead++;
		complete(p->scq, p, s->wr.wr_id, status, 0, n, 0, 0);
		if (status) {
			flush(p);
			if (status != IBV_WC_LOC_PROT_ERR)
				flush(peer);
			return;
		}
	}
}
#endif

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct pair *p = (struct pair *)qp;
#ifdef INSTANT
	struct queue *q = p->scq;
	for (; wr; wr = wr->next) {
		struct ibv_wc *wc = &q->wc[q->tail++ % q->size];
		wc->wr_id = wr->wr_id;
		wc->status = IBV_WC_SUCCESS;
	}
	return 0;
#endif
	pthread_mutex_lock(&big);
	fake_posts++;
	if (fake_mislaid && p->state == IBV_QPS_ERR) {
		*bad = wr;
		pthread_mutex_unlock(&big);
		return fake_mislaid == 1 ? 0 : -1;
	}
	for (; wr; wr = wr->next) {
		struct send *s = &p->sq[p->stail % p->ssize];
		if (p->stail - p->shead == p->ssize) {
			*bad = wr;
			pthread_mutex_unlock(&big);
			return ENOMEM;
		}
		if (wr->opcode == IBV_WR_BIND_MW && (wr->num_sge || wr->imm_data || wr->wr.rdma.remote_addr)) { // as librxe wants it
			*bad = wr;
			pthread_mutex_unlock(&big);
			return EINVAL;
		}
#ifdef IWARP
		if ((wr->opcode != IBV_WR_RDMA_WRITE && wr->opcode != IBV_WR_RDMA_READ && wr->opcode != IBV_WR_SEND) ||
		    (wr->opcode == IBV_WR_RDMA_READ && (wr->num_sge != 1 || wr->send_flags & (IBV_SEND_FENCE | IBV_SEND_INLINE)))) { // as siw wants it
			*bad = wr;
			pthread_mutex_unlock(&big);
			return EINVAL;
		}
#endif
		s->wr = *wr;
		s->inlined = !!(wr->send_flags & IBV_SEND_INLINE);
		s->length = 0;
		for (int i = 0; i < wr->num_sge; i++) {
			s->sge[i] = wr->sg_list[i];
			if (s->inlined) {
				memcpy(s->data + s->length, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
				s->length += wr->sg_list[i].length;
			}
		}
		p->stail++;
	}
	progress(p);
	pthread_mutex_unlock(&big);
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct pair *p = (struct pair *)qp;
	pthread_mutex_lock(&big);
	for (; wr; wr = wr->next) {
		if (p->rtail - p->rhead == p->rsize) {
			*bad = wr;
			pthread_mutex_unlock(&big);
			return ENOMEM;
		}
		struct recv *rv = &p->rq[p->rtail++ % p->rsize];
		*rv = (struct recv){.id = wr->wr_id, .num_sge = wr->num_sge};
		for (int i = 0; i < wr->num_sge && i < 2; i++)
			rv->sge[i] = wr->sg_list[i];
	}
	if (p->state == IBV_QPS_ERR)
		flush(p);
	else if (p->peer < MAX_QP && pairs[p->peer] && pairs[p->peer]->peer == qp->qp_num)
		progress(pairs[p->peer]);
	pthread_mutex_unlock(&big);
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct queue *q = (struct queue *)cq;
	int got = 0;
#ifndef INSTANT
	pthread_mutex_lock(&big);
	fake_polls++;
#endif
	for (; got < n && q->head != q->tail; got++)
		wc[got] = q->wc[q->head++ % q->size];
#ifndef INSTANT
	pthread_mutex_unlock(&big);
#endif
	return got;
}

static int req_notify(struct ibv_cq *cq, int solicited)
{
	pthread_mutex_lock(&big);
	((struct queue *)cq)->armed = 1;
	((struct queue *)cq)->solicited = solicited;
	pthread_mutex_unlock(&big);
	return 0;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct window *w = calloc(1, sizeof *w);
	int i;
	pthread_mutex_lock(&big);
	for (i = 1; i < MAX_MW && windows[i]; i++)
		;
	if (fake_windows && i > (int)fake_windows)
		i = MAX_MW;
	if (i < MAX_MW) {
		windows[i] = w;
		w->mw = (struct ibv_mw){.context = pd->context, .pd = pd, .rkey = WINDOW | i << 8 | (rand() & 0xff), .handle = i, .type = type};
	}
	pthread_mutex_unlock(&big);
	if (i == MAX_MW) {
		free(w);
		errno = ENOMEM;
		return NULL;
	}
	return &w->mw;
}

// bind_mw posts a request that binds a window of type 1, as ibv_bind_mw(3) does.
static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *b)
{
	struct ibv_send_wr *bad, wr = {.wr_id = b->wr_id, .opcode = IBV_WR_BIND_MW, .send_flags = b->send_flags};
	if (mw->type != IBV_MW_TYPE_1 || (b->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED))
		return EINVAL;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = mw->rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = b->bind_info;
	return post_send(qp, &wr, &bad);
}

static int dealloc_mw(struct ibv_mw *mw)
{
	if (fake_held)
		return EBUSY;
	pthread_mutex_lock(&big);
	unbind((struct window *)mw);
	windows[mw->handle] = NULL;
	pthread_mutex_unlock(&big);
	free(mw);
	return 0;
}

static int query_device_ex(struct ibv_context *c, const struct ibv_query_device_ex_input *in, struct ibv_device_attr_ex *a, size_t n)
{
	memset(a, 0, n);
	ibv_query_device(c, &a->orig_attr);
	a->odp_caps.general_caps = IBV_ODP_SUPPORT;
	a->odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ; // no atomics
	return 0;
}

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(2, sizeof *list);
	list[0] = &device;
	*n = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list) { free(list); }

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	struct verbs_context *x = calloc(1, sizeof *x);
	struct ibv_context *c = &x->context;
	x->sz = sizeof *x;
	c->abi_compat = __VERBS_ABI_IS_EXTENDED;
#ifndef BARE
	x->query_device_ex = query_device_ex;
#endif
	c->device = d;
	c->ops.poll_cq = poll_cq;
	c->ops.req_notify_cq = req_notify;
	c->ops.post_send = post_send;
	c->ops.post_recv = post_recv;
	c->ops.alloc_mw = alloc_mw;
	c->ops.bind_mw = bind_mw;
	c->ops.dealloc_mw = dealloc_mw;
	if (pipe2(async_pipe, O_CLOEXEC) < 0)
		return NULL;
	c->async_fd = async_pipe[0];
	c->cmd_fd = async_pipe[1];
	return c;
}

int ibv_close_device(struct ibv_context *c)
{
	if (c->num_comp_vectors)
		return refuse();
	close(c->async_fd);
	close(c->cmd_fd);
	free((char *)c - offsetof(struct verbs_context, context));
	return 0;
}

int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a)
{
	memset(a, 0, sizeof *a);
	strcpy(a->fw_ver, "none");
	a->max_mr_size = ~0ull;
	a->max_qp_wr = MAX_WR;
#ifdef IWARP
	a->max_sge = 6;
	a->max_sge_rd = 1;
#else
	a->max_sge = a->max_sge_rd = 4;
#endif
	a->max_cqe = 4 * MAX_WR;
	a->max_qp_rd_atom = a->max_qp_init_rd_atom = 16;
#ifdef IWARP
	a->atomic_cap = IBV_ATOMIC_NONE;
#else
	a->atomic_cap = IBV_ATOMIC_HCA;
#endif
	a->phys_port_cnt = 1;
#if !defined BARE && !defined IWARP
	a->device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
#endif
	return 0;
}

int ibv_query_port(struct ibv_context *c, uint8_t num, struct _compat_ibv_port_attr *out)
{
	struct ibv_port_attr *a = (struct ibv_port_attr *)out;
	memset(a, 0, sizeof *a);
	a->state = fake_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
	if (fake_gone)
		return EIO;
	a->max_mtu = a->active_mtu = IBV_MTU_4096;
	a->gid_tbl_len = 2;
	a->max_msg_sz = 1 << 30;
	a->link_layer = IBV_LINK_LAYER_ETHERNET;
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *c, struct ibv_gid_entry *e, size_t n, uint32_t flags, size_t size)
{
	static const uint8_t loopback[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
	if (n < 1)
		return 0;
	memset(e, 0, sizeof *e);
	memcpy(e->gid.raw, loopback, 16);
	e->gid_index = 1;
	e->port_num = 1;
	e->gid_type = IBV_GID_TYPE_ROCE_V2;
	e->ndev_ifindex = 1;
	return 1;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	struct ibv_pd *pd = calloc(1, sizeof *pd);
	pd->context = c;
	pthread_mutex_lock(&big);
	c->num_comp_vectors++; // here: protection domains
	pthread_mutex_unlock(&big);
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int busy = 0;
	pthread_mutex_lock(&big);
	for (int i = 0; i < MAX_MR; i++)
		busy |= regions[i] && regions[i]->mr.pd == pd;
	for (int i = 0; i < MAX_QP; i++)
		busy |= pairs[i] && pairs[i]->qp.pd == pd;
	for (int i = 0; i < MAX_MW; i++)
		busy |= windows[i] && windows[i]->mw.pd == pd;
	pthread_mutex_unlock(&big);
	if (busy)
		return refuse();
	pthread_mutex_lock(&big);
	pd->context->num_comp_vectors--;
	pthread_mutex_unlock(&big);
	free(pd);
	return fake_gone ? EIO : 0;
}

#ifdef BARE
#define ibv_reg_mr_iova reg_mr_iova
static
#endif
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t n, uint64_t iova, int access)
{
#ifdef BARE
	if (access & (IBV_ACCESS_ON_DEMAND | IBV_ACCESS_MW_BIND)) {
		errno = EINVAL;
		return NULL;
	}
#endif
	if ((access & IBV_ACCESS_ON_DEMAND) && (access & IBV_ACCESS_REMOTE_ATOMIC)) {
		errno = EINVAL;
		return NULL;
	}
	struct rlimit limit;
	if (fake_limited > 1 || (fake_limited && !getrlimit(RLIMIT_MEMLOCK, &limit) && n > limit.rlim_cur)) {
		errno = fake_limited > 1 || limit.rlim_cur ? ENOMEM : EPERM;
		return NULL;
	}
	struct region *r = calloc(1, sizeof *r);
	pthread_mutex_lock(&big);
	fake_demanded += !!(access & IBV_ACCESS_ON_DEMAND);
	fake_pinned++;
	while (regions[next_key >> 8 & (MAX_MR - 1)] || next_key < 256)
		next_key += 256;
	next_key += 256;
	uint32_t i = next_key >> 8 & (MAX_MR - 1);
	while (regions[i])
		i = (i + 1) & (MAX_MR - 1);
	regions[i] = r;
	r->mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = n, .lkey = i << 8 | (rand() & 0xff), .handle = i};
	r->mr.rkey = r->mr.lkey;
	r->iova = iova;
	r->access = access;
	pthread_mutex_unlock(&big);
	return &r->mr;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t off, size_t n, uint64_t iova, int fd, int access)
{
	struct stat st;
#ifdef BARE
	errno = EOPNOTSUPP;
	return NULL;
#endif
	if (fstat(fd, &st) < 0)
		return NULL; // EBADF
	if ((off ^ iova) & 4095 || off > (uint64_t)st.st_size || n > st.st_size - off) {
		errno = EINVAL;
		return NULL;
	}
	uint64_t from = off & ~4095ull;
	void *p = mmap(NULL, n + (off - from), PROT_READ | PROT_WRITE, MAP_SHARED, fd, from);
	if (p == MAP_FAILED)
		return NULL;
	struct ibv_mr *mr = ibv_reg_mr_iova(pd, (char *)p + (off - from), n, iova, access);
	if (mr)
		((struct region *)mr)->mapped = p;
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t n, int access)
{
	return ibv_reg_mr_iova(pd, addr, n, (uintptr_t)addr, access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	int busy;
	pthread_mutex_lock(&big);
	busy = ((struct region *)mr)->windows;
	if (!busy) {
		regions[mr->handle] = NULL;
		fake_unpinned++;
	}
	pthread_mutex_unlock(&big);
	if (busy)
		return refuse();
	void *p = ((struct region *)mr)->mapped;
	if (p)
		munmap(p, mr->length + ((char *)mr->addr - (char *)p));
	free(mr);
	return fake_gone ? EIO : 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c)
{
	int fds[2];
	struct ibv_comp_channel *ch = calloc(1, sizeof(struct channel));
	if (pipe2(fds, O_CLOEXEC) < 0)
		return NULL;
	ch->context = c;
	ch->fd = fds[0];
	ch->refcnt = fds[1]; // where events are written to
	return ch;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ch)
{
	if (((struct channel *)ch)->cqs)
		return refuse();
	close(ch->fd);
	close(ch->refcnt);
	free(ch);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *c, int n, void *user, struct ibv_comp_channel *ch, int vector)
{
	struct queue *q = calloc(1, sizeof *q);
	q->size = 1;
	while (q->size < (unsigned)n)
		q->size *= 2;
	q->cq.context = c;
	q->cq.channel = ch;
	if (ch)
		((struct channel *)ch)->cqs++;
	q->cq.cqe = fake_short ? n / 2 : q->size;
	q->wc = calloc(q->size, sizeof *q->wc);
	return &q->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct queue *q = (struct queue *)cq;
	int busy = cq->comp_events_completed != 0; // devices wait for ever for events that are not acknowledged
	pthread_mutex_lock(&big);
	for (int i = 0; i < MAX_QP; i++)
		busy |= pairs[i] && (pairs[i]->scq == q || pairs[i]->rcq == q);
	pthread_mutex_unlock(&big);
	if (busy)
		return refuse();
	if (cq->channel)
		((struct channel *)cq->channel)->cqs--;
	free(q->wc);
	free(q);
	return fake_gone ? EIO : 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *ch, struct ibv_cq **cq, void **user)
{
	if (read(ch->fd, cq, sizeof *cq) != sizeof *cq)
		return -1;
	(*cq)->comp_events_completed++; // here: those that are not acknowledged
	*user = (*cq)->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned n) { cq->comp_events_completed -= n; }

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	if (a->cap.max_inline_data > INLINE || a->cap.max_send_wr > MAX_WR || a->cap.max_recv_wr > MAX_WR || a->qp_type != IBV_QPT_RC || !a->sq_sig_all) {
		errno = EINVAL;
		return NULL;
	}
	struct pair *p = calloc(1, sizeof *p);
	p->scq = (struct queue *)a->send_cq;
	p->rcq = (struct queue *)a->recv_cq;
	for (p->ssize = 1; p->ssize < a->cap.max_send_wr; p->ssize *= 2)
		;
	for (p->rsize = 1; p->rsize < a->cap.max_recv_wr; p->rsize *= 2)
		;
	p->sq = calloc(p->ssize, sizeof *p->sq);
	p->rq = calloc(p->rsize, sizeof *p->rq);
	p->qp.pd = pd;
	p->qp.context = pd->context;
	p->qp.qp_type = a->qp_type;
	pthread_mutex_lock(&big);
	do
		next_pair = next_pair % (MAX_QP - 1) + 1;
	while (pairs[next_pair]);
	p->qp.qp_num = next_pair;
	pairs[next_pair] = p;
	pthread_mutex_unlock(&big);
	return &p->qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	struct pair *p = (struct pair *)qp;
	int rc = 0;
	if (fake_gone)
		return EIO;
	pthread_mutex_lock(&big);
	if (!(mask & IBV_QP_STATE))
		; // nothing here looks at what else there is
	else if (a->qp_state == IBV_QPS_ERR && fake_still > 1)
		p->state = p->qp.state = IBV_QPS_ERR;
	else if (a->qp_state == IBV_QPS_ERR)
		flush(p);
	else if (p->state == IBV_QPS_ERR)
		rc = EINVAL;
	else {
		if (mask & IBV_QP_DEST_QPN)
			p->peer = a->dest_qp_num;
		if (a->qp_state == IBV_QPS_RTR && (!a->ah_attr.is_global || a->ah_attr.grh.sgid_index != 1 || a->ah_attr.grh.dgid.raw[15] != 1))
			rc = EINVAL;
		if (a->qp_state == IBV_QPS_RTS && (a->rnr_retry == 7 || a->timeout == 0))
			rc = EINVAL; // it could wait for ever
		if (!rc && a->qp_state == IBV_QPS_RTR)
			fake_rtr = *a;
		if (!rc && a->qp_state == IBV_QPS_RTS)
			fake_rts = *a;
		if (!rc)
			p->state = p->qp.state = a->qp_state;
		if (!rc && p->peer < MAX_QP && pairs[p->peer])
			progress(pairs[p->peer]);
	}
	pthread_mutex_unlock(&big);
	return rc;
}

// flush_end ends a connection of iWARP with its queue pair.
static void flush_end(struct pair *p)
{
	if (p->cm)
		part(p);
}

// unpolled counts the completions of a queue pair that are in a completion queue still.
static unsigned unpolled(struct queue *q, struct pair *p)
{
	unsigned n = 0;
	for (unsigned i = q->head; i != q->tail; i++)
		n += q->wc[i % q->size].qp_num == p->qp.qp_num;
	return n;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct pair *p = (struct pair *)qp;
	int busy = 0;
	pthread_mutex_lock(&big);
	for (int i = 0; i < MAX_MW; i++)
		busy |= windows[i] && windows[i]->mr && windows[i]->qpn == qp->qp_num;
	if (!busy) {
		flush_end(p);
		pairs[qp->qp_num] = NULL;
		fake_destroyed++;
		fake_undrained += p->stail - p->shead + p->rtail - p->rhead + unpolled(p->scq, p) + (p->rcq != p->scq ? unpolled(p->rcq, p) : 0);
	}
	pthread_mutex_unlock(&big);
	if (busy)
		return refuse(); // rdma_rxe waits for its windows, some time, and loses the queue pair
	free(p->sq);
	free(p->rq);
	free(p);
	return fake_gone ? EIO : 0;
}

int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *e)
{
	return read(c->async_fd, e, sizeof *e) == sizeof *e ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event *e) {}
int ibv_fork_init(void)
{
	fake_forks++;
	return 0;
}
#ifndef BARE
enum ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }
#endif

// fake_event makes an asynchronous event of a device.
int fake_event(struct ibv_context *c, int type, void *element)
{
	struct ibv_async_event e = {.event_type = type};
	e.element.qp = element;
	return write(c->cmd_fd, &e, sizeof e) == sizeof e ? 0 : -1;
}

// fake_fails fails in the ways that functions of the library do: it returns errno, or -1 and errno, or less; or says nothing.
long fake_fails(int how)
{
	errno = how == 1 ? EPERM : how == 2 ? ENOSPC : 0;
	return how == 0 ? 0 : how == 1 ? EINVAL : how == 3 ? -EAGAIN : -1;
}

// fake_nothing is the least that a call can do.
int fake_nothing(void *a, void *b, void *c) { return 0; }

#ifdef IWARP
#include "fakecm.h"
#else
static void part(struct pair *p) { p->cm = NULL; }
#endif
