// The kernels of the tests of all providers: see gputest.Factory.

typedef struct {
	float value, scale;
	ulong count;
} body;

__kernel void scale(__global body *p, uint n, float k)
{
	size_t i = get_global_id(0);
	if (i < n) {
		p[i].value *= k;
		p[i].count++;
	}
}

__kernel void move(__global body *dst, __global const body *src, uint n)
{
	size_t i = get_global_id(0);
	if (i < n)
		dst[i] = src[i];
}

__kernel void spin(__global body *p, uint n)
{
	uint x = 1;
	for (uint i = 0; i < n; i++)
		x = x * 1664525u + 1013904223u + (uint)p[1].count;
	p[0].count += x == 42 ? 2 : 1;
}
