// What fake.c is made of: memory, streams that are threads, and what tests set and count.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t ptr; // CUdeviceptr

enum {
	OK = 0, INVALID_VALUE = 1, NO_MEMORY = 2, INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_HANDLE = 400,
	NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719, NOT_SUPPORTED = 801, UNKNOWN = 999
};

enum { MAX = 4096, DEVICES = 2, ATTRS = 160, PAGE64 = 65536 };

// What tests set and count: see fake_set and fake_count.
enum { SET_VERSION, SET_DELAY, SET_OOM, SET_STICKY, SET_EVENT, SET_HOLD, SET_LOST, SET_MISALIGN, SET_LATE, SET_WAITS, SET_COUNT, SET_MEMORY, SET_GIVEN, SET_KIND };

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static long settings[16];
static int attrs[DEVICES][ATTRS];
static char fault[512];
static char text[256]; // what devices are called, and where, where tests say; no zero needs to be there
static int texts;
static int kernels, pushed;

// note keeps the first thing that a correct program does not do.
static void note(const char *format, ...)
{
	if (fault[0])
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(fault, sizeof fault, format, args);
	va_end(args);
}

struct context {
	int retained, sticky, device;
};

static struct context contexts[DEVICES];
static __thread struct context *stack[16];
static __thread int depth;

enum kind { DEVICE = 1, HOST, MANAGED };

struct memory {
	enum kind kind;
	struct context *ctx;
	char *dev;    // as devices and, but for HOST, programs see it
	char *host;   // as programs see HOST memory
	char *hidden; // as this library sees it
	size_t size, room, skew;
	int busy; // operations that have it
	int fd;   // as others have it; 0: nobody asked
	int lent; // registered only
	ptr from; // from here on
	size_t bytes;
	struct memory *next;
};

static struct memory *memories;

enum op_kind { COPY, SET, KERNEL, EVENT };

struct op {
	enum op_kind kind;
	char *dst, *src; // as programs named them
	size_t n;
	int value;
	const char *kernel;
	ptr mem[2];
	uint32_t count;
	float k;
	struct event *event;
	uint64_t number;
	struct op *next;
};

struct stream {
	struct context *ctx;
	pthread_t thread;
	struct op *first, *last, *running;
	int ending;
};

struct event {
	struct context *ctx;
	uint64_t wanted, done;
	int failed;
};

struct module {
	struct context *ctx;
	char *image;
};

struct function {
	struct module *module;
	char name[64];
};

static struct stream *streams[MAX];
static struct event *events[MAX];
static struct module *modules[MAX];
static struct function *functions[MAX];

// Handles are places in tables, marked by what they are for: never pointers that a program could follow.
#define HANDLE(base, i) ((void *)(uintptr_t)((base) + (i)))
enum { STREAM = 0x10000, EVENTS = 0x20000, MODULE = 0x30000, FUNCTION = 0x40000, CONTEXT = 0x50000 };

static void *find(void **table, uintptr_t base, void *handle, const char *what)
{
	uintptr_t i = (uintptr_t)handle - base;
	if (i < MAX && table[i])
		return table[i];
	note("%s: no such handle: %p", what, handle);
	return NULL;
}

static void *add(void **table, uintptr_t base, void *p)
{
	for (int i = 1; i < MAX; i++)
		if (!table[i]) {
			table[i] = p;
			return HANDLE(base, i);
		}
	return NULL; // too many
}

static int live(void **table)
{
	int n = 0;
	for (int i = 0; i < MAX; i++)
		n += table[i] != NULL;
	return n;
}

// current is the context of the thread. r is the result to return where there is none, or it is ruined.
static struct context *current(const char *call, int *r)
{
	struct context *c = depth ? stack[depth - 1] : NULL;
	if (!c || !c->retained) {
		note("%s: no context is current", call);
		*r = INVALID_CONTEXT;
		return NULL;
	}
	if (c->sticky) {
		*r = c->sticky;
		return NULL;
	}
	return c;
}

#define BEGIN                                         \
	int r = OK;                                   \
	pthread_mutex_lock(&big);                     \
	struct context *c = current(__func__, &r);    \
	if (!c)                                       \
		goto out

#define END                             \
out:                                    \
	pthread_mutex_unlock(&big);     \
	return r

// within finds the memory that holds a range, as devices or programs name it.
static struct memory *within(const void *p, size_t n)
{
	const char *q = p;
	for (struct memory *m = memories; m; m = m->next) {
		if (q >= m->dev && n <= m->size && (size_t)(q - m->dev) <= m->size - n)
			return m;
		if (m->host && q >= m->host && n <= m->size && (size_t)(q - m->host) <= m->size - n)
			return m;
	}
	return NULL;
}

// reach is where this library finds a range.
static char *reach(void *p, size_t n)
{
	struct memory *m = within(p, n);
	if (!m)
		return p; // the host's
	char *q = p;
	return m->hidden + (m->host && q >= m->host && q < m->host + m->size ? q - m->host : q - m->dev);
}

// idle waits until nothing runs on a device, as the driver may when memory is freed: that is what SET_WAITS is for.
static void idle(struct context *c)
{
	for (int i = 0; settings[SET_WAITS] && i < MAX; i++)
		while (streams[i] && streams[i]->ctx == c && (streams[i]->first || streams[i]->running) && !c->sticky)
			pthread_cond_wait(&moved, &big);
}

static void busy(const void *p, size_t n, int by)
{
	struct memory *m = n ? within(p, n) : NULL;
	if (m)
		m->busy += by;
}

// guard closes managed memory to the host while kernels run, where it has to be closed.
static void guard(void)
{
	for (struct memory *m = memories; m; m = m->next)
		if (m->kind == MANAGED && !attrs[m->ctx->device][89])
			mprotect(m->dev, m->room, kernels ? PROT_NONE : PROT_READ | PROT_WRITE);
}

struct body {
	float value, scale;
	uint64_t count;
};

// What network cards have written, and devices do not see yet.
struct arrival {
	char *dst;
	char data[64];
	size_t n;
	struct arrival *next;
};

static struct arrival *arrivals;

// Memory that other devices have as a file (SET_LATE): what they write to it this one sees when it is told to, and what this one
// writes they see when the operation ends. last is what both saw at last.
struct lent {
	struct memory *m;
	char *at, *file, *last;
	size_t n;
	struct lent *next;
};

static struct lent *lents;

// carry takes to a side what the other one changed.
static void carry(struct lent *l, char *to, const char *from)
{
	for (size_t i = 0; i < l->n; i++)
		if (from[i] != l->last[i])
			to[i] = l->last[i] = from[i];
}

// written is the end of an operation that may have written to memory.
static void written(struct memory *m)
{
	for (struct lent *l = lents; l; l = l->next)
		if (l->m == m)
			carry(l, l->file, l->at);
}

static void arrive(void)
{
	for (struct lent *l = lents; l; l = l->next)
		carry(l, l->at, l->file);
	for (struct arrival *a; (a = arrivals);) {
		arrivals = a->next;
		memcpy(reach(a->dst, a->n), a->data, a->n);
		free(a);
	}
}

static void take(long nanoseconds)
{
	struct timespec t = {nanoseconds / 1000000000, nanoseconds % 1000000000};
	nanosleep(&t, NULL);
}

// run does a kernel. Without the lock, as it takes its time.
static int run(struct op *o, struct context *c)
{
	size_t n = !strcmp(o->kernel, "spin") ? sizeof(struct body) : (size_t)o->count * sizeof(struct body);
	pthread_mutex_lock(&big);
	int two = !strcmp(o->kernel, "move");
	int any = attrs[c->device][88]; // it reaches all memory of the process
	int known = (within((void *)o->mem[0], n) || any) && (!two || within((void *)o->mem[1], n) || any);
	char *p = reach((void *)o->mem[0], n), *q = two ? reach((void *)o->mem[1], n) : NULL;
	pthread_mutex_unlock(&big);
	if (!known)
		return ILLEGAL_ADDRESS;
	struct body *x = (void *)p;
	if (!strcmp(o->kernel, "spin")) {
		take(o->count / 8);
		x->count++;
	} else if (two) {
		memmove(p, q, n);
	} else {
		for (uint32_t i = 0; i < o->count; i++) {
			x[i].value *= o->k;
			x[i].count++;
		}
	}
	return OK;
}

static void finish(struct op *o)
{
	written(within(o->kind == KERNEL ? (void *)o->mem[0] : o->dst, 1));
	switch (o->kind) {
	case COPY:
		busy(o->src, o->n, -1);
		// fall through
	case SET:
		busy(o->dst, o->n, -1);
		break;
	case KERNEL:
		busy((void *)o->mem[0], 1, -1);
		busy((void *)o->mem[1], 1, -1);
		kernels--;
		guard();
		break;
	case EVENT:
		o->event->done = o->number;
		break;
	}
}

static void *work(void *arg)
{
	struct stream *s = arg;
	pthread_mutex_lock(&big);
	for (;;) {
		while ((!s->first && !s->ending) || (settings[SET_HOLD] && s->first && !s->ctx->sticky))
			pthread_cond_wait(&moved, &big);
		struct op *o = s->first;
		if (!o)
			break;
		s->running = o;
		if (!(s->first = o->next))
			s->last = NULL;
		int sticky = s->ctx->sticky;
		if (!sticky && o->kind != EVENT && settings[SET_STICKY] && !--settings[SET_STICKY])
			sticky = s->ctx->sticky = ILLEGAL_ADDRESS;
		if (!sticky && o->kind != EVENT) {
			char *dst = o->kind == KERNEL ? NULL : reach(o->dst, o->n), *src = o->kind == COPY ? reach(o->src, o->n) : NULL;
			long delay = settings[SET_DELAY];
			pthread_mutex_unlock(&big);
			if (delay)
				take(delay * 1000);
			int r = OK;
			if (o->kind == COPY)
				memmove(dst, src, o->n);
			else if (o->kind == SET)
				memset(dst, o->value, o->n);
			else
				r = run(o, s->ctx);
			pthread_mutex_lock(&big);
			if (r)
				s->ctx->sticky = r;
		}
		finish(o);
		free(o);
		s->running = NULL;
		pthread_cond_broadcast(&moved);
	}
	pthread_mutex_unlock(&big);
	return NULL;
}

static void post(struct stream *s, struct op o)
{
	struct op *p = malloc(sizeof *p);
	*p = o;
	p->next = NULL;
	if (s->last)
		s->last->next = p;
	else
		s->first = p;
	s->last = p;
	pthread_cond_broadcast(&moved);
}

// --- what tests call

void fake_reset(void)
{
	pthread_mutex_lock(&big);
	memset(settings, 0, sizeof settings);
	settings[SET_VERSION] = 12040;
	settings[SET_COUNT] = DEVICES;
	settings[SET_MEMORY] = 1L << 33;
	texts = 0;
	fault[0] = 0;
	pushed = 0;
	for (int i = 0; i < DEVICES; i++) {
		memset(attrs[i], 0, sizeof attrs[i]);
		static const int on[] = {19, 41, 83, 86, 89, 91, 116, 124};
		for (size_t j = 0; j < sizeof on / sizeof *on; j++)
			attrs[i][on[j]] = 1;
		attrs[i][117] = 1;
		attrs[i][134] = -1;
	}
	pthread_mutex_unlock(&big);
}

void fake_set(int what, long value)
{
	pthread_mutex_lock(&big);
	settings[what] = value;
	if (what == SET_LOST)
		for (int i = 0; i < DEVICES; i++)
			contexts[i].sticky = contexts[i].retained ? (int)value : 0;
	pthread_cond_broadcast(&moved);
	pthread_mutex_unlock(&big);
}

// fake_text has devices be called something, as far as there is room for it.
void fake_text(const char *s, size_t n)
{
	texts = n < sizeof text ? (int)n : (int)sizeof text;
	memcpy(text, s, texts);
}

void fake_attr(int attr, int value)
{
	for (int i = 0; i < DEVICES; i++)
		attrs[i][attr] = value;
}

// fake_left counts what was not given back, of all kinds; threads that kept a context count too.
int fake_left(void)
{
	pthread_mutex_lock(&big);
	int n = live((void **)streams) + live((void **)events) + live((void **)modules) + pushed;
	for (struct memory *m = memories; m; m = m->next)
		n++;
	for (int i = 0; i < DEVICES; i++)
		n += contexts[i].retained;
	pthread_mutex_unlock(&big);
	return n;
}

const char *fake_fault(void) { return fault; }

// fake_nic writes to memory of a device as a network card does: late.
int fake_nic(void *dst, const void *data, size_t n)
{
	pthread_mutex_lock(&big);
	struct arrival *a = calloc(1, sizeof *a);
	a->dst = dst;
	a->n = n;
	memcpy(a->data, data, n);
	a->next = arrivals;
	arrivals = a;
	if (attrs[0][118] >= 100)
		arrive();
	pthread_mutex_unlock(&big);
	return 0;
}
