# Kernels with a planted cause of slowness each, and the same without it: tests/tool/profile_advice.py.
@kernel(grid=(cdiv(n, 32),))
def by_rows(y: *fp32[n], x: *const fp32[n, 32], n: i32):
    i = program_id(0) * 32 + arange(0, 32)
    total = zeros((32,), fp32)
    for c in range(32):
        total += load(x + i * 32 + c, mask=i < n, other=0.0)
    store(y + i, total, mask=i < n)


@kernel(grid=(cdiv(n, 32),))
def by_columns(y: *fp32[n], x: *const fp32[32, n], n: i32):
    i = program_id(0) * 32 + arange(0, 32)
    total = zeros((32,), fp32)
    for c in range(32):
        total += load(x + c * n + i, mask=i < n, other=0.0)
    store(y + i, total, mask=i < n)


@kernel(grid=(n,))
def one_sum(y: *fp32[n], x: *const fp32[n, 64], n: i32):
    row = program_id(0)
    store(y + row, sum(load(x + row * 64 + arange(0, 64)), axis=0))


@kernel(grid=(cdiv(n, 16),))
def many_sums(y: *fp32[n], x: *const fp32[n, 64], n: i32):
    rows = program_id(0) * 16 + arange(0, 16)
    store(y + rows, sum(load(x + rows[:, None] * 64 + arange(0, 64)[None, :]), axis=1))


@kernel(grid=(cdiv(n, BLOCK),))
def doubled(y: *fp32[n], x: *const fp32[n], n: i32, BLOCK: constexpr = 1024):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(y + i, load(x + i, mask=i < n) * 2, mask=i < n)


@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols))
def twice_read(y: *fp32[n_rows, n_cols], x: *const fp32[n_rows, n_cols], n_rows: i32, n_cols: i32,
               BLOCK: constexpr = 1024):
    at = program_id(0) * n_cols
    total = 0.0
    for c in range(0, n_cols, 256):
        total += sum(load(x + at + c + arange(0, 256)), axis=0)
    for c in range(0, n_cols, 256):
        store(y + at + c + arange(0, 256), load(x + at + c + arange(0, 256)) / total)


@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols))
def once_read(y: *fp32[n_rows, n_cols], x: *const fp32[n_rows, n_cols], n_rows: i32, n_cols: i32,
              BLOCK: constexpr = 1024):
    at = program_id(0) * n_cols + arange(0, BLOCK)
    v = load(x + at, mask=arange(0, BLOCK) < n_cols, other=0.0)
    store(y + at, v / sum(v, axis=0), mask=arange(0, BLOCK) < n_cols)


@kernel(grid=(1,))
def gathered(y: *fp32[1024], x: *const fp32[1024], STRIDE: constexpr = 32):
    i = arange(0, 1024)
    store(y + i, gather(load(x + i), i * STRIDE % 1024 + i * STRIDE // 1024, 0))


@kernel(grid=(cdiv(n, 256),))
def one_counter(total: *fp32[1], x: *const fp32[n], n: i32):
    i = program_id(0) * 256 + arange(0, 256)
    atomic_add(total + i * 0, load(x + i))


@kernel(grid=(cdiv(n, 256),))
def one_atomic(total: *fp32[1], x: *const fp32[n], n: i32):
    i = program_id(0) * 256 + arange(0, 256)
    atomic_add(total, sum(load(x + i), axis=0))


@kernel(grid=(cdiv(n, 256),))
def divided_exactly(y: *fp32[n], x: *const fp32[n], by: fp32, n: i32):
    i = program_id(0) * 256 + arange(0, 256)
    store(y + i, div_rn(load(x + i), by))


@kernel(grid=(cdiv(n, 256),))
def divided(y: *fp32[n], x: *const fp32[n], by: fp32, n: i32):
    i = program_id(0) * 256 + arange(0, 256)
    store(y + i, load(x + i) * (1 / by))


@kernel(grid=(cdiv(n, 256),))
def many_exps(y: *fp32[n], x: *const fp32[n], n: i32, TIMES: constexpr = 64):
    i = program_id(0) * 256 + arange(0, 256)
    v = load(x + i)
    for k in range(TIMES):
        v = exp2(v)
    store(y + i, v)


@kernel(grid=(cdiv(n, 256),))
def many_products(y: *fp32[n], x: *const fp32[n], n: i32, TIMES: constexpr = 512):
    i = program_id(0) * 256 + arange(0, 256)
    v = load(x + i)
    for k in range(TIMES):
        v = v * v + 1
    store(y + i, v)


@kernel(grid=(n,))
def squared(y: *fp32[n, 4096], x: *const T[n, 4096], n: i32, T: dtype = fp32):
    at = program_id(0) * 4096 + arange(0, 64)[:, None] * 64 + arange(0, 64)[None, :]
    v = load(x + at)
    store(y + at, dot(v, v, input_precision="ieee"))


@kernel(grid=(1,))
def chained(y: *fp32[4096], x: *const fp16[n, 4096], n: i32, STAGES: constexpr = 1):
    at = arange(0, 64)[:, None] * 64 + arange(0, 64)[None, :]
    v, total = load(x + at), zeros((64, 64), fp32)
    for i in range(0, n, num_stages=STAGES):
        total = dot(load(x + i * 4096 + at), v, total)
    store(y + at, total)


@kernel(grid=(n,))
def sum_of_sums(y: *fp32[n], x: *const fp32[n, m], n: i32, m: i32):
    total = 0.0
    for c in range(0, m, 1024):
        total += sum(load(x + program_id(0) * m + c + arange(0, 1024)), axis=0)
    store(y + program_id(0), total)


@kernel(grid=(n,))
def sum_of_tiles(y: *fp32[n], x: *const fp32[n, m], n: i32, m: i32):
    total = zeros((1024,), fp32)
    for c in range(0, m, 1024):
        total += load(x + program_id(0) * m + c + arange(0, 1024))
    store(y + program_id(0), sum(total, axis=0))


@kernel(grid=(n,))
def fenced(y: *fp32[n, m], x: *const fp32[n, m], n: i32, m: i32, FENCE: constexpr = 1):
    at = program_id(0) * m + arange(0, 1024)
    for c in range(0, m, 1024):
        v = load(x + at + c)
        store(y + at + c, v * 2)
        if FENCE:
            debug_barrier()


@kernel(grid=(1,))
def wide_product(y: *fp32[16384], x: *const fp16[16384], n: i32):
    at = arange(0, 128)[:, None] * 128 + arange(0, 128)[None, :]
    v = load(x + at)
    store(y + at, dot(v, v))
