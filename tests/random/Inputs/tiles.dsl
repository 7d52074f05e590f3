# Long threads, for compile_times.py: what is no loop over chunks, tiles of three axes with reductions along each, the order
# of axes changed, scattered atomics, scans, sorts, unrolled loops.
@kernel(grid=(1,))
def again(y: *T, x: *T, n: i32, B: constexpr = 1024, T: dtype = fp32):
    i = arange(0, B)
    v = load(x + i, mask=i < n, other=0)
    store(y + i, v, mask=i < n)
    store(y + i, load(y + (n - 1 - i), mask=i < n, other=5) + v + max(v), mask=i < n)

@kernel(grid=(1,))
def gathered(y: *T, x: *T, z: *i32, n: i32, B: constexpr = 1024, T: dtype = fp32):
    i = arange(0, B)
    at = load(z + i * n, mask=i < n, other=0)
    store(y + at, load(x + at, mask=i < n, other=0) + load(x + at * n, mask=at < n, other=0), mask=i < n)

@kernel(grid=(1,))
def reductions(y: *T, x: *T, n: i32, P: constexpr = 16, Q: constexpr = 64, R: constexpr = 64, T: dtype = fp32):
    i, j, k = arange(0, P)[:, None, None], arange(0, Q)[None, :, None], arange(0, R)[None, None, :]
    at = (i * Q + j) * R + k
    v = load(x + at, mask=at < n, other=0)
    least = min(v, axis=2)
    w = where(v > 0.5, v - sum(v, axis=0)[None, :, :], v * max(v, axis=1)[:, None, :] + least[:, :, None])
    store(y + at, w, mask=at < n)

@kernel(grid=(1,))
def turned(y: *T, x: *T, n: i32, P: constexpr = 16, Q: constexpr = 64, R: constexpr = 64, T: dtype = fp32):
    i, j, k = arange(0, P)[:, None, None], arange(0, Q)[None, :, None], arange(0, R)[None, None, :]
    at = (i * Q + j) * R + k
    t = permute(load(x + at, mask=at < n, other=0), (2, 0, 1))
    a, b, c = arange(0, R)[:, None, None], arange(0, P)[None, :, None], arange(0, Q)[None, None, :]
    to = (a * P + b) * Q + c
    store(y + to, t + sum(t, axis=1)[:, None, :], mask=to < n)

@kernel(grid=(1,))
def scattered(y: *fp32, x: *T, z: *i32, n: i32, P: constexpr = 16, Q: constexpr = 64, R: constexpr = 64, T: dtype = fp32):
    i, j, k = arange(0, P)[:, None, None], arange(0, Q)[None, :, None], arange(0, R)[None, None, :]
    at = (i * Q + j) * R + k
    to = load(z + at, mask=at < n, other=0)
    atomic_add(y + to, exp(load(x + to, mask=at < n, other=0).to(fp32)), mask=at < n)

@kernel(grid=(1,))
def scanned(y: *T, x: *T, n: i32, sp: i32, sq: i32, sr: i32, P: constexpr = 16, Q: constexpr = 64, R: constexpr = 64, T: dtype = fp32):
    i, j, k = arange(0, P)[:, None, None], arange(0, Q)[None, :, None], arange(0, R)[None, None, :]
    at = i * sp + j * sq + k * sr
    mask = (i < n) & (j < n + 1) & (k < n + 2)
    v = load(x + at, mask=mask, other=0).to(fp32)
    store(y + at, cumsum(v, axis=2) * v / (1.0 + exp(-v)), mask=mask)

@kernel(grid=(1,))
def sorted(y: *T, x: *T, n: i32, B: constexpr = 1024, T: dtype = fp32):
    i = arange(0, B)
    store(y + i, sort(load(x + i, mask=i < n, other=0)), mask=i < n)

@kernel(grid=(1,))
def unrolled(y: *T, x: *T, n: i32, B: constexpr = 1024, TIMES: constexpr = 64, T: dtype = fp32):
    i = arange(0, B)
    for k in static_range(TIMES):
        v = load(x + k * B + i, mask=k * B + i < n, other=0).to(fp32)
        store(y + k * B + i, exp(v) + sum(v), mask=k * B + i < n)
