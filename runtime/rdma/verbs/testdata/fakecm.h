// The part of the stand-in that stands for librdmacm.so.1: connections of iWARP within the process, which end for both sides at once.

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>

enum { MAX_ID = 1 << 12 };

struct cmchannel {
	struct rdma_event_channel ch;
	int in; // where events are written to
};

struct ident {
	struct rdma_cm_id id;
	uint16_t port; // network order
	int listening, connected;
	struct ident *peer;
	uint32_t qpn;
	uint8_t asks, serves;
};

static struct ident *idents[MAX_ID];
static struct ibv_context home = {.device = &device};
static uint16_t next_port = 20000;
unsigned fake_away;  // the device has no loopback address, and all others
unsigned fake_class; // of service, that was asked for last
unsigned fake_portless; // connections that find no port to come from
unsigned fake_knocks; // connections that were asked for

static void tell(struct rdma_event_channel *ch, struct ident *id, int kind, int status, const void *data, uint8_t n)
{
	struct rdma_cm_event *e = calloc(1, sizeof *e + 256);
	e->id = &id->id;
	e->event = kind;
	e->status = status;
	e->param.conn.responder_resources = id->serves;
	e->param.conn.initiator_depth = id->asks;
	if (n) {
		memcpy(e + 1, data, n);
		e->param.conn.private_data = e + 1;
		e->param.conn.private_data_len = n;
	}
	if (write(((struct cmchannel *)ch)->in, &e, sizeof e) < 0)
		free(e); // nobody reads there any more
}

// part ends a pair's connection: the peer's pair flushes, and both sides hear it.
static void part(struct pair *p)
{
	struct ident *id = p->cm, *other = id->peer;
	p->cm = NULL;
	id->peer = NULL;
	tell(id->id.channel, id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	if (!other)
		return;
	other->peer = NULL;
	tell(other->id.channel, other, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	struct pair *q = other->qpn < MAX_QP ? pairs[other->qpn] : NULL;
	if (q && q->cm == other) {
		q->cm = NULL;
		if (fake_still < 2)
			flush(q);
	}
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	int fds[2];
	struct cmchannel *c = calloc(1, sizeof *c);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return NULL;
	c->ch.fd = fds[0];
	c->in = fds[1];
	return &c->ch;
}

void rdma_destroy_event_channel(struct rdma_event_channel *ch)
{
	struct cmchannel *c = (struct cmchannel *)ch;
	struct rdma_cm_event *e;
	fcntl(ch->fd, F_SETFL, O_NONBLOCK);
	while (read(ch->fd, &e, sizeof e) == sizeof e)
		free(e);
	close(ch->fd);
	close(c->in);
	free(c);
}

int rdma_get_cm_event(struct rdma_event_channel *ch, struct rdma_cm_event **e)
{
	return read(ch->fd, e, sizeof *e) == sizeof *e ? 0 : -1;
}

int rdma_ack_cm_event(struct rdma_cm_event *e)
{
	free(e);
	return 0;
}

static struct ident *make_id(struct rdma_event_channel *ch)
{
	struct ident *id = calloc(1, sizeof *id);
	id->id.channel = ch;
	id->qpn = MAX_QP;
	for (int i = 0; i < MAX_ID; i++)
		if (!idents[i]) {
			idents[i] = id;
			return id;
		}
	abort();
}

int rdma_create_id(struct rdma_event_channel *ch, struct rdma_cm_id **id, void *context, enum rdma_port_space ps)
{
	pthread_mutex_lock(&big);
	*id = &make_id(ch)->id;
	pthread_mutex_unlock(&big);
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *i)
{
	struct ident *id = (struct ident *)i;
	pthread_mutex_lock(&big);
	struct pair *p = id->qpn < MAX_QP ? pairs[id->qpn] : NULL;
	if (p && p->cm == id)
		flush(p);
	if (id->peer) {
		id->peer->peer = NULL;
		tell(id->peer->id.channel, id->peer, RDMA_CM_EVENT_REJECTED, 0, NULL, 0);
	}
	for (int k = 0; k < MAX_ID; k++)
		if (idents[k] == id)
			idents[k] = NULL;
	pthread_mutex_unlock(&big);
	free(id);
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *ch)
{
	pthread_mutex_lock(&big);
	id->channel = ch;
	pthread_mutex_unlock(&big);
	return 0;
}

// ours reports whether the device has an address.
static int ours(struct sockaddr *a)
{
	int loops = a->sa_family == AF_INET ? (ntohl(((struct sockaddr_in *)a)->sin_addr.s_addr) >> 24) == 127
	                                    : IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)a)->sin6_addr);
	return loops == !fake_away;
}

int rdma_bind_addr(struct rdma_cm_id *i, struct sockaddr *a)
{
	struct ident *id = (struct ident *)i;
	if (!ours(a)) {
		errno = ENODEV;
		return -1;
	}
	pthread_mutex_lock(&big);
	id->port = ((struct sockaddr_in *)a)->sin_port; // where sockaddr_in6 has it, too
	if (!id->port)
		id->port = htons(next_port++);
	id->id.verbs = &home;
	pthread_mutex_unlock(&big);
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *i, struct sockaddr *src, struct sockaddr *dst, int timeout)
{
	struct ident *id = (struct ident *)i;
	pthread_mutex_lock(&big);
	id->port = ((struct sockaddr_in *)dst)->sin_port;
	id->id.verbs = &home;
	tell(i->channel, id, ours(dst) ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR, ours(dst) ? 0 : -ENODEV, NULL, 0);
	pthread_mutex_unlock(&big);
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *i, int timeout)
{
	tell(i->channel, (struct ident *)i, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	return 0;
}

int rdma_listen(struct rdma_cm_id *i, int backlog)
{
	((struct ident *)i)->listening = 1;
	return 0;
}

uint16_t rdma_get_src_port(struct rdma_cm_id *i) { return ((struct ident *)i)->port; }

int rdma_connect(struct rdma_cm_id *i, struct rdma_conn_param *param)
{
	struct ident *id = (struct ident *)i, *l = NULL;
	pthread_mutex_lock(&big);
	fake_knocks++;
	if (fake_portless) {
		fake_portless--;
		pthread_mutex_unlock(&big);
		errno = EADDRNOTAVAIL;
		return -1;
	}
	for (int k = 0; k < MAX_ID; k++)
		if (idents[k] && idents[k]->listening && idents[k]->port == id->port)
			l = idents[k];
	id->qpn = param->qp_num;
	if (l) {
		struct ident *child = make_id(l->id.channel);
		child->id.verbs = &home;
		child->serves = param->initiator_depth;
		child->asks = param->responder_resources;
		child->peer = id;
		id->peer = child;
		tell(l->id.channel, child, RDMA_CM_EVENT_CONNECT_REQUEST, 0, param->private_data, param->private_data_len);
	} else {
		tell(i->channel, id, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, NULL, 0);
	}
	pthread_mutex_unlock(&big);
	return 0;
}

int rdma_accept(struct rdma_cm_id *i, struct rdma_conn_param *param)
{
	struct ident *id = (struct ident *)i, *other;
	int rc = -1;
	pthread_mutex_lock(&big);
	other = id->peer;
	id->qpn = param->qp_num;
	struct pair *p = pairs[id->qpn], *q = other && other->qpn < MAX_QP ? pairs[other->qpn] : NULL;
	if (p && q && p->state == IBV_QPS_INIT && q->state == IBV_QPS_INIT) {
		p->peer = q->qp.qp_num;
		q->peer = p->qp.qp_num;
		p->state = q->state = p->qp.state = q->qp.state = IBV_QPS_RTS;
		p->cm = id;
		q->cm = other;
		p->mute = 1;
		tell(id->id.channel, id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
		tell(other->id.channel, other, RDMA_CM_EVENT_ESTABLISHED, 0, param->private_data, param->private_data_len);
		rc = 0;
	}
	pthread_mutex_unlock(&big);
	errno = ECONNRESET;
	return rc;
}

int rdma_reject(struct rdma_cm_id *i, const void *data, uint8_t n)
{
	struct ident *id = (struct ident *)i;
	pthread_mutex_lock(&big);
	if (id->peer) {
		id->peer->peer = NULL;
		tell(id->peer->id.channel, id->peer, RDMA_CM_EVENT_REJECTED, -ECONNRESET, data, n);
		id->peer = NULL;
	}
	pthread_mutex_unlock(&big);
	return 0;
}

int rdma_establish(struct rdma_cm_id *i) { return 0; }

int rdma_disconnect(struct rdma_cm_id *i)
{
	struct ident *id = (struct ident *)i;
	pthread_mutex_lock(&big);
	struct pair *p = id->qpn < MAX_QP ? pairs[id->qpn] : NULL;
	if (p && p->cm == id)
		flush(p);
	pthread_mutex_unlock(&big);
	return 0;
}

int rdma_init_qp_attr(struct rdma_cm_id *i, struct ibv_qp_attr *a, int *mask)
{
	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	return 0;
}

int rdma_set_option(struct rdma_cm_id *i, int level, int name, void *value, size_t n)
{
	if (level != RDMA_OPTION_ID || name != RDMA_OPTION_ID_TOS || n != 1) {
		errno = EINVAL;
		return -1;
	}
	fake_class = *(uint8_t *)value;
	return 0;
}
