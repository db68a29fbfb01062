// The calls of the stand-in about memory; see fake.c.

// obtain makes memory of n bytes, which begins so far into a page of 64 KiB.
static int obtain(struct memory **out, struct context *c, enum kind kind, size_t n, size_t skew)
{
	if (!n)
		return INVALID_VALUE;
	if (n > (size_t)1 << 33 || (settings[SET_OOM] && !--settings[SET_OOM]))
		return NO_MEMORY;
	struct memory *m = calloc(1, sizeof *m);
	m->room = (n + skew + PAGE64 - 1) & ~(size_t)(PAGE64 - 1);
	int fd = memfd_create("fake", 0);
	if (fd < 0 || ftruncate(fd, m->room))
		abort();
	m->hidden = mmap(NULL, m->room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char *p = mmap(NULL, m->room + PAGE64, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
	m->dev = (char *)(((uintptr_t)p + PAGE64 - 1) & ~(uintptr_t)(PAGE64 - 1));
	if (kind == MANAGED)
		mmap(m->dev, m->room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	if (kind == HOST && attrs[c->device][91])
		m->host = mmap(m->dev, m->room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	else if (kind == HOST)
		m->host = mmap(NULL, m->room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	memset(m->hidden, 0xA5, m->room); // nobody promised zeros
	m->dev += skew;
	m->hidden += skew;
	m->skew = skew;
	m->kind = kind;
	m->ctx = c;
	m->size = n;
	m->next = memories;
	memories = m;
	*out = m;
	if (kind == MANAGED)
		guard();
	return OK;
}

int cuMemAlloc_v2(ptr *p, size_t n)
{
	struct memory *m;
	BEGIN;
	if (!(r = obtain(&m, c, DEVICE, n, settings[SET_MISALIGN])))
		*p = (ptr)m->dev + (ptr)settings[SET_GIVEN]; // a driver that lies
	END;
}

int cuMemAllocManaged(ptr *p, size_t n, unsigned flags)
{
	struct memory *m;
	BEGIN;
	if (!attrs[c->device][83] || flags != 1)
		r = NOT_SUPPORTED;
	else if (!(r = obtain(&m, c, MANAGED, n, 0)))
		*p = (ptr)m->dev;
	END;
}

int cuMemHostAlloc(void **p, size_t n, unsigned flags)
{
	struct memory *m;
	BEGIN;
	if (flags != 3)
		r = INVALID_VALUE;
	else if (!(r = obtain(&m, c, HOST, n, 0)))
		*p = m->host;
	END;
}

// Memory of the program's that is registered. Without attribute 91 the device has it at another address.
int cuMemHostRegister_v2(void *host, size_t n, unsigned flags)
{
	BEGIN;
	if (flags != 3 || !n || (uintptr_t)host % 4096 || n % 4096) {
		r = INVALID_VALUE;
		goto out;
	}
	if (within(host, 1)) {
		r = 712; // CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
		goto out;
	}
	struct memory *m = calloc(1, sizeof *m);
	m->kind = HOST;
	m->lent = 1;
	m->ctx = c;
	m->host = m->hidden = host;
	m->size = m->room = n;
	m->dev = attrs[c->device][91] ? host : mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
	m->next = memories;
	memories = m;
	END;
}

int cuMemHostUnregister(void *host)
{
	BEGIN;
	struct memory *m = within(host, 1);
	if (!m || m->host != host || !m->lent) {
		note("%s: %p is not registered", __func__, host);
		r = 713; // CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
		goto out;
	}
	if (m->busy)
		note("%s: %p is unregistered while operations have it", __func__, host);
	idle(c);
	drop(m);
	END;
}

int cuMemHostGetDevicePointer_v2(ptr *p, void *host, unsigned flags)
{
	BEGIN;
	struct memory *m = within(host, 1);
	if (!m || m->host != host || flags)
		r = INVALID_VALUE;
	else
		*p = (ptr)m->dev;
	END;
}

// release frees memory, of a context or of any.
static int release(const char *call, struct context *c, char *p, int host)
{
	struct memory *m = within(p, 1);
	if (m && m->busy)
		note("%s: %p is freed while operations have it", call, p);
	if (c)
		idle(c);
	if (!m || (host ? m->host != p : m->dev != p) || host != (m->kind == HOST)) {
		note("%s: %p is no memory that it gave", call, p);
		return INVALID_VALUE;
	}
	if (m->ctx != c)
		note("%s: memory of another context", call);
	drop(m);
	return OK;
}

int cuMemFree_v2(ptr p)
{
	BEGIN;
	r = release(__func__, c, (char *)p, 0);
	END;
}

int cuMemFreeHost(void *p)
{
	BEGIN;
	r = release(__func__, c, p, 1);
	END;
}

int cuPointerGetAttribute(void *value, int attr, ptr p)
{
	BEGIN;
	struct memory *m = within((void *)p, 1);
	if (!m)
		r = INVALID_VALUE;
	else if (settings[SET_KIND] && attr == settings[SET_KIND])
		*(unsigned *)value = 7; // nothing that there is
	else if (attr == 2)
		*(unsigned *)value = m->kind == HOST ? 1 : 2;
	else if (attr == 8)
		*(unsigned *)value = m->kind == MANAGED;
	else if (attr == 9)
		*(int *)value = m->ctx->device;
	else
		r = INVALID_VALUE;
	END;
}

int cuPointerSetAttribute(const void *value, int attr, ptr p)
{
	BEGIN;
	struct memory *m = within((void *)p, 1);
	if (!m || m->kind != DEVICE || attr != 6 || *(const int *)value != 1)
		r = INVALID_VALUE;
	END;
}

static void lend(struct memory *m, char *at, size_t n, int fd)
{
	struct lent *l = calloc(1, sizeof *l);
	l->m = m;
	l->at = at;
	l->n = n;
	l->file = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	l->last = malloc(n);
	memcpy(l->last, at, n);
	l->next = lents;
	lents = l;
}

// An export is a file whose beginning is that of the range. The hidden mapping changes to it, or what is written goes there late.
int cuMemGetHandleForAddressRange(void *handle, ptr p, size_t n, int type, unsigned long long flags)
{
	BEGIN;
	struct memory *m = within((void *)p, n);
	if (!m || m->kind != DEVICE || type != 1 || flags || p % PAGE64 || n % PAGE64 || m->busy) {
		r = INVALID_VALUE;
		goto out;
	}
	if (m->fd && (m->from != p || m->bytes != n)) {
		note("one memory is exported as two ranges, which this library cannot");
		r = NOT_SUPPORTED;
		goto out;
	}
	if (m->fd) {
		*(int *)handle = dup(m->fd);
		goto out;
	}
	char *at = m->hidden + ((char *)p - m->dev);
	int fd = memfd_create("fake-dma-buf", 0);
	if (fd < 0 || ftruncate(fd, n) || pwrite(fd, at, n, 0) != (ssize_t)n)
		abort();
	if (settings[SET_LATE])
		lend(m, at, n, fd);
	else
		mmap(at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	m->fd = fd;
	m->from = p;
	m->bytes = n;
	*(int *)handle = dup(fd);
	END;
}

int cuFlushGPUDirectRDMAWrites(int target, int scope)
{
	BEGIN;
	if (target || scope != 100 || !(attrs[c->device][117] & 1))
		r = NOT_SUPPORTED;
	else
		arrive();
	END;
}
