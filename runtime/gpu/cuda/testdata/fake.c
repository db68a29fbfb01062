// A stand-in for libcuda.so.1, for tests on machines without a GPU. What it does it does late, as a GPU: each stream is a thread. It is strict
// where the driver lets things go by: each handle is looked up, contexts are current to threads or are not, what is freed while an operation has it is
// noted (fake_fault). Memory of its devices is PROT_NONE to the host; managed memory is while a kernel runs, where concurrent access is off.
//
// It is compiled by the tests: cc -shared -fPIC -O2 -pthread -Wl,-Bsymbolic -o libfakecuda.so fake.c. The declarations are our own, after the
// CUDA Driver API's documentation.

#include "world.h"

// --- the driver

static int started;

int cuInit(unsigned flags)
{
	if (!started)
		fake_reset();
	started = 1;
	return flags ? INVALID_VALUE : OK;
}

int cuDriverGetVersion(int *version)
{
	*version = (int)settings[SET_VERSION];
	return OK;
}

static const char *names[1000] = {
	[OK] = "CUDA_SUCCESS", [INVALID_VALUE] = "CUDA_ERROR_INVALID_VALUE", [NO_MEMORY] = "CUDA_ERROR_OUT_OF_MEMORY",
	[INVALID_DEVICE] = "CUDA_ERROR_INVALID_DEVICE", [INVALID_IMAGE] = "CUDA_ERROR_INVALID_IMAGE", [INVALID_CONTEXT] = "CUDA_ERROR_INVALID_CONTEXT",
	[214] = "CUDA_ERROR_ECC_UNCORRECTABLE", [INVALID_HANDLE] = "CUDA_ERROR_INVALID_HANDLE", [NOT_FOUND] = "CUDA_ERROR_NOT_FOUND",
	[NOT_READY] = "CUDA_ERROR_NOT_READY", [ILLEGAL_ADDRESS] = "CUDA_ERROR_ILLEGAL_ADDRESS", [LAUNCH_FAILED] = "CUDA_ERROR_LAUNCH_FAILED",
	[NOT_SUPPORTED] = "CUDA_ERROR_NOT_SUPPORTED", [UNKNOWN] = "CUDA_ERROR_UNKNOWN",
};

int cuGetErrorName(int r, const char **name)
{
	*name = r >= 0 && r < 1000 ? names[r] : NULL;
	return *name ? OK : INVALID_VALUE;
}

int cuGetErrorString(int r, const char **text) { return cuGetErrorName(r, text); }

int cuDeviceGetCount(int *n)
{
	*n = (int)settings[SET_COUNT];
	return OK;
}

int cuDeviceGet(int *dev, int i)
{
	*dev = i;
	return i >= 0 && i < DEVICES ? OK : INVALID_DEVICE;
}

int cuDeviceGetName(char *name, int n, int dev)
{
	snprintf(name, n, "Fake %d", dev);
	memcpy(name, text, texts < n ? texts : n);
	return OK;
}

int cuDeviceGetAttribute(int *value, int attr, int dev)
{
	if (attr < 0 || attr >= ATTRS || dev < 0 || dev >= DEVICES)
		return INVALID_VALUE;
	*value = attrs[dev][attr];
	return OK;
}

int cuDeviceTotalMem_v2(size_t *n, int dev)
{
	(void)dev;
	*n = (size_t)settings[SET_MEMORY];
	return OK;
}

int cuDeviceGetPCIBusId(char *id, int n, int dev)
{
	snprintf(id, n, "0000:0%d:00.0", dev + 1);
	memcpy(id, text, texts < n ? texts : n);
	return OK;
}

int cuDevicePrimaryCtxRetain(void **ctx, int dev)
{
	if (dev < 0 || dev >= DEVICES)
		return INVALID_DEVICE;
	pthread_mutex_lock(&big);
	int r = contexts[dev].sticky ? contexts[dev].sticky : settings[SET_LOST] ? (int)settings[SET_LOST] : OK;
	if (!r) {
		contexts[dev].retained++;
		contexts[dev].device = dev;
		*ctx = HANDLE(CONTEXT, dev);
	}
	pthread_mutex_unlock(&big);
	return r;
}

static void drop(struct memory *m)
{
	for (struct lent **p = &lents, *l; (l = *p);) {
		if (l->m != m) {
			p = &l->next;
			continue;
		}
		*p = l->next;
		munmap(l->file, l->n);
		free(l->last);
		free(l);
	}
	for (struct memory **p = &memories; *p; p = &(*p)->next)
		if (*p == m) {
			*p = m->next;
			break;
		}
	if (m->lent) {
		if (m->dev != m->host)
			munmap(m->dev, m->room);
		free(m);
		return;
	}
	if (m->fd)
		close(m->fd);
	munmap(m->hidden - m->skew, m->room);
	if (m->host)
		munmap(m->host, m->room);
	mmap(m->dev - m->skew, m->room, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANON, -1, 0); // never again another's
	free(m);
}

// fake_forget drops all memory, and what was noted, after it told where memory is that is none.
void fake_forget(void)
{
	pthread_mutex_lock(&big);
	while (memories)
		drop(memories);
	fault[0] = 0;
	pthread_mutex_unlock(&big);
}

int cuDevicePrimaryCtxRelease_v2(int dev)
{
	if (dev < 0 || dev >= DEVICES)
		return INVALID_DEVICE;
	pthread_mutex_lock(&big);
	struct context *c = &contexts[dev];
	int r = OK;
	if (!c->retained) {
		note("a context is released that nobody has");
		r = INVALID_CONTEXT;
	} else if (!--c->retained) {
		// With a ruined context all goes that was in it. Of a good one nothing may be left.
		for (struct memory *m = memories, *next; m; m = next) {
			next = m->next;
			if (m->ctx == c && c->sticky)
				drop(m);
		}
		for (int i = 0; c->sticky && i < MAX; i++) {
			struct stream *s = streams[i];
			if (s && s->ctx == c) {
				s->ending = 1;
				streams[i] = NULL;
				pthread_cond_broadcast(&moved);
				pthread_mutex_unlock(&big);
				pthread_join(s->thread, NULL);
				pthread_mutex_lock(&big);
			}
			if (events[i] && events[i]->ctx == c)
				events[i] = NULL;
			if (modules[i] && modules[i]->ctx == c)
				modules[i] = NULL;
		}
		c->sticky = 0;
	}
	pthread_mutex_unlock(&big);
	return r;
}

int cuCtxPushCurrent_v2(void *ctx)
{
	uintptr_t i = (uintptr_t)ctx - CONTEXT;
	if (i >= DEVICES || !contexts[i].retained || depth == 16)
		return INVALID_CONTEXT;
	stack[depth++] = &contexts[i];
	__sync_fetch_and_add(&pushed, 1);
	return OK;
}

int cuCtxPopCurrent_v2(void **ctx)
{
	if (!depth) {
		note("a context is popped where none is current");
		return INVALID_CONTEXT;
	}
	depth--;
	__sync_fetch_and_sub(&pushed, 1);
	if (ctx)
		*ctx = NULL;
	return OK;
}

#include "memory.h"

int cuStreamCreate(void **out, unsigned flags)
{
	BEGIN;
	if (flags != 1) {
		r = INVALID_VALUE;
		goto out;
	}
	struct stream *s = calloc(1, sizeof *s);
	s->ctx = c;
	if (!(*out = add((void **)streams, STREAM, s))) {
		free(s);
		r = NO_MEMORY;
		goto out;
	}
	if (pthread_create(&s->thread, NULL, work, s))
		abort();
	END;
}

#define STREAM_OF(handle)                                                        \
	struct stream *s = find((void **)streams, STREAM, handle, __func__);     \
	if (s && s->ctx != c)                                                    \
		note("%s: a stream of another context", __func__);               \
	if (!s || s->ctx != c) {                                                 \
		r = INVALID_HANDLE;                                              \
		goto out;                                                        \
	}

int cuStreamSynchronize(void *handle)
{
	BEGIN;
	STREAM_OF(handle);
	while ((s->first || s->running) && !c->sticky)
		pthread_cond_wait(&moved, &big);
	r = c->sticky;
	END;
}

int cuStreamDestroy_v2(void *handle)
{
	BEGIN;
	STREAM_OF(handle);
	if (s->first || s->running)
		note("a stream is destroyed with operations in flight");
	s->ending = 1;
	streams[(uintptr_t)handle - STREAM] = NULL;
	pthread_cond_broadcast(&moved);
	pthread_mutex_unlock(&big);
	pthread_join(s->thread, NULL);
	pthread_mutex_lock(&big);
	free(s);
	END;
}

int cuEventCreate(void **out, unsigned flags)
{
	BEGIN;
	if (flags != 2) {
		r = INVALID_VALUE;
		goto out;
	}
	struct event *e = calloc(1, sizeof *e);
	e->ctx = c;
	if (!(*out = add((void **)events, EVENTS, e))) {
		free(e);
		r = NO_MEMORY;
	}
	END;
}

#define EVENT_OF(handle)                                                        \
	struct event *e = find((void **)events, EVENTS, handle, __func__);      \
	if (e && e->ctx != c)                                                   \
		note("%s: an event of another context", __func__);              \
	if (!e || e->ctx != c) {                                                \
		r = INVALID_HANDLE;                                             \
		goto out;                                                       \
	}

int cuEventRecord(void *event, void *handle)
{
	BEGIN;
	STREAM_OF(handle);
	EVENT_OF(event);
	if (e->wanted != e->done)
		note("an event is recorded again before it happened");
	if (settings[SET_EVENT] == 1) {
		settings[SET_EVENT] = 0;
		r = UNKNOWN - 1; // an error without a name
		goto out;
	}
	if (settings[SET_EVENT] == 2) {
		settings[SET_EVENT] = 0;
		e->failed = 1;
	}
	post(s, (struct op){.kind = EVENT, .event = e, .number = ++e->wanted});
	END;
}

int cuEventQuery(void *event)
{
	BEGIN;
	EVENT_OF(event);
	if (e->failed) {
		e->failed = 0;
		r = INVALID_VALUE;
	} else if (e->wanted != e->done) {
		r = NOT_READY;
	}
	END;
}

int cuEventDestroy_v2(void *event)
{
	BEGIN;
	EVENT_OF(event);
	if (e->wanted != e->done)
		note("an event is destroyed before it happened");
	events[(uintptr_t)event - EVENTS] = NULL;
	free(e);
	END;
}

static int copy(struct context *c, ptr dst, ptr src, size_t n, void *handle, int dst_dev, int src_dev)
{
	int r = OK;
	STREAM_OF(handle);
	struct memory *d = within((void *)dst, n), *m = within((void *)src, n);
	int dd = d && d->kind != HOST, sd = m && m->kind != HOST;
	// The driver takes host memory for either; memory of a device is never the host's.
	if (!n || (dst_dev >= 0 && dst_dev != dd) || (src_dev >= 0 && src_dev != sd)) {
		note("a copy of %zu bytes to %p from %p is none of the kind that was asked for", n, (void *)dst, (void *)src);
		r = INVALID_VALUE;
		goto out;
	}
	busy((void *)dst, n, 1);
	busy((void *)src, n, 1);
	post(s, (struct op){.kind = COPY, .dst = (char *)dst, .src = (char *)src, .n = n});
	if (!d || !m) // memory that is not pinned: the driver returns when it has been read or written
		idle(c);
out:
	return r;
}

int cuMemcpyHtoDAsync_v2(ptr dst, const void *src, size_t n, void *s)
{
	BEGIN;
	r = copy(c, dst, (ptr)src, n, s, 1, 0);
	END;
}

int cuMemcpyDtoHAsync_v2(void *dst, ptr src, size_t n, void *s)
{
	BEGIN;
	r = copy(c, (ptr)dst, src, n, s, 0, 1);
	END;
}

int cuMemcpyDtoDAsync_v2(ptr dst, ptr src, size_t n, void *s)
{
	BEGIN;
	r = copy(c, dst, src, n, s, 1, 1);
	END;
}

int cuMemcpyAsync(ptr dst, ptr src, size_t n, void *s)
{
	BEGIN;
	r = copy(c, dst, src, n, s, -1, -1);
	END;
}

int cuMemsetD8Async(ptr dst, unsigned char value, size_t n, void *handle)
{
	BEGIN;
	STREAM_OF(handle);
	if (!within((void *)dst, n)) {
		r = INVALID_VALUE;
		goto out;
	}
	busy((void *)dst, n, 1);
	post(s, (struct op){.kind = SET, .dst = (char *)dst, .n = n, .value = value});
	END;
}

int cuModuleLoadData(void **out, const char *image)
{
	BEGIN;
	if (strncmp(image, "//", 2) && strncmp(image, ".version", 8)) {
		r = INVALID_IMAGE;
		goto out;
	}
	struct module *m = calloc(1, sizeof *m);
	m->ctx = c;
	m->image = strdup(image);
	if (!(*out = add((void **)modules, MODULE, m)))
		r = NO_MEMORY;
	END;
}

int cuModuleGetFunction(void **out, void *handle, const char *name)
{
	BEGIN;
	struct module *m = find((void **)modules, MODULE, handle, __func__);
	char entry[96];
	snprintf(entry, sizeof entry, ".entry %s(", name);
	if (!m || m->ctx != c) {
		r = INVALID_HANDLE;
	} else if (!strstr(m->image, entry)) {
		r = NOT_FOUND;
	} else {
		struct function *f = calloc(1, sizeof *f);
		f->module = m;
		snprintf(f->name, sizeof f->name, "%s", name);
		if (!(*out = add((void **)functions, FUNCTION, f)))
			r = NO_MEMORY;
	}
	END;
}

int cuModuleUnload(void *handle)
{
	BEGIN;
	struct module *m = find((void **)modules, MODULE, handle, __func__);
	if (!m || m->ctx != c) {
		r = INVALID_HANDLE;
		goto out;
	}
	if (kernels)
		note("a module is unloaded while kernels run");
	modules[(uintptr_t)handle - MODULE] = NULL;
	for (int i = 0; i < MAX; i++)
		if (functions[i] && functions[i]->module == m) {
			free(functions[i]);
			functions[i] = NULL;
		}
	free(m->image);
	free(m);
	END;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *handle, void **params, void **extra)
{
	BEGIN;
	STREAM_OF(handle);
	struct function *f = find((void **)functions, FUNCTION, function, __func__);
	if (!f || f->module->ctx != c) {
		r = INVALID_HANDLE;
		goto out;
	}
	if (!gx || !gy || !gz || !bx || !by || !bz || (uint64_t)bx * by * bz > 1024 || shared || extra) {
		r = INVALID_VALUE;
		goto out;
	}
	struct op o = {.kind = KERNEL};
	int i = 0;
	o.mem[0] = *(ptr *)params[i++];
	if (!strcmp(f->name, "move"))
		o.mem[1] = *(ptr *)params[i++];
	o.count = *(uint32_t *)params[i++];
	if (!strcmp(f->name, "scale"))
		o.k = *(float *)params[i++];
	o.kernel = !strcmp(f->name, "move") ? "move" : !strcmp(f->name, "scale") ? "scale" : "spin";
	busy((void *)o.mem[0], 1, 1);
	if (o.mem[1])
		busy((void *)o.mem[1], 1, 1);
	kernels++;
	guard();
	post(s, o);
	END;
}
