"""Reductions, broadcasting, control flow and calls, judged by NumPy."""
import time

import numpy as np

from case import U, case, close, same_bits

REDUCE3 = """
@kernel(grid=(1,))
def f(r: *T, x: *T, AXIS: constexpr = 0, A: constexpr = 4, B: constexpr = 8, C: constexpr = 16, T: dtype = fp32):
    i = arange(0, A)[:, None, None] * (B * C) + arange(0, B)[None, :, None] * C + arange(0, C)[None, None, :]
    v = {name}(load(x + i), axis=AXIS, keep_dims=True)
    o = i // (B * C) * (B * C) * (1 if AXIS != 0 else 0)
    a = arange(0, A)[:, None, None] if AXIS != 0 else arange(0, 1)[:, None, None]
    b = arange(0, B)[None, :, None] if AXIS != 1 else arange(0, 1)[None, :, None]
    c = arange(0, C)[None, None, :] if AXIS != 2 else arange(0, 1)[None, None, :]
    nb: constexpr = B if AXIS != 1 else 1
    nc: constexpr = C if AXIS != 2 else 1
    store(r + a * (nb * nc) + b * nc + c, v)
"""


@case(name=["sum", "max", "min"], axis=[0, 1, 2], shape=[(4, 8, 16), (1, 2, 512), (64, 2, 2), (2, 256, 1), (16, 16, 8)])
def reduce_rank3(bench, name, axis, shape):
    rng = np.random.default_rng(axis)
    x = rng.standard_normal(shape).astype(np.float32)
    want = {"sum": np.sum, "max": np.max, "min": np.min}[name](x.astype(np.float64), axis=axis)
    xb, rb = bench.buffer("fp32", x.size, x.ravel()), bench.buffer("fp32", want.size)
    bench.run(REDUCE3.format(name=name), rb, xb, defines=dict(AXIS=axis, A=shape[0], B=shape[1], C=shape[2]))
    if name == "sum":
        bound = (np.log2(shape[axis]) + shape[axis]) * U * np.abs(x.astype(np.float64)).sum(axis=axis)
        close(rb.read(), want.ravel(), 0, bound.ravel(), f"sum over {axis} of {shape}")
    else:
        same_bits(rb.read(), want.ravel(), f"{name} over {axis} of {shape}")


REDUCE2 = """
@kernel(grid=(1,))
def f(r: *R, x: *T, R_: constexpr = 8, C_: constexpr = 8, AXIS: constexpr = 0, T: dtype = fp32, R: dtype = fp32):
    i = arange(0, R_)[:, None] * C_ + arange(0, C_)[None, :]
    v = {name}(load(x + i), axis=AXIS)
    o = arange(0, C_ if AXIS == 0 else R_)
    store(r + o, v)
"""


@case(name=["sum", "max", "min"], axis=[0, 1], dtype=["i8", "u8", "i16", "i32", "i64", "u32", "fp16", "bf16", "fp64"],
      shape=[(8, 32), (128, 4), (1, 64)])
def reduce_rank2_types(bench, name, axis, dtype, shape):
    from fsc import decode, encode
    rng = np.random.default_rng(5)
    if dtype.startswith("fp") or dtype == "bf16":
        x = decode(encode(rng.standard_normal(shape), dtype), dtype).reshape(shape)
    else:
        x = rng.integers(0 if dtype[0] == "u" else -100, 100, shape).astype(np.int64)
    want = {"sum": np.sum, "max": np.max, "min": np.min}[name](x, axis=axis)
    result = {"i8": "i32", "i16": "i32", "u8": "u32"}.get(dtype, dtype)
    if name != "sum" and dtype == "u8":
        result = "u32"
    xb, rb = bench.buffer(dtype, x.size, x.ravel()), bench.buffer(result, want.size)
    bench.run(REDUCE2.format(name=name), rb, xb, defines=dict(AXIS=axis, R_=shape[0], C_=shape[1]),
              types={"T": dtype, "R": result})
    if name == "sum" and (dtype.startswith("fp") or dtype == "bf16"):
        u = {"fp16": 2.0 ** -11, "bf16": 2.0 ** -8, "fp64": 2.0 ** -53}[dtype]
        bound = (shape[axis] + 8) * (U if dtype != "fp64" else u) * np.abs(x).sum(axis=axis) + u * np.abs(want)
        close(rb.read(), want, 0, bound, f"sum {dtype}")
    else:
        assert (rb.read().astype(np.float64) == want.astype(np.float64)).all(), f"{name} {dtype}"


@case(name=["sum", "max", "min"], n=[1, 2, 16, 32, 64, 128, 1024, 4096, 16384], warps=[0, 1, 4, 8])
def reduce_row(bench, name, n, warps):
    source = f"""
@kernel(grid=(3,))
def f(r: *i32, x: *i32, N: constexpr = 16):
    p = program_id(0)
    v = load(x + p * N + arange(0, N))
    store(r + p, {name}(v))
"""
    rng = np.random.default_rng(n)
    x = rng.integers(-1000, 1000, (3, n))
    xb, rb = bench.buffer("i32", x.size, x.ravel()), bench.buffer("i32", 3)
    bench.run(source, rb, xb, defines={"N": n}, num_warps=warps)
    same_bits(rb.raw(), {"sum": np.sum, "max": np.max, "min": np.min}[name](x, axis=1).astype(np.int32),
              f"{name} of {n}")


@case()
def reduce_nan(bench):
    source = """
@kernel(grid=(1,))
def f(r: *fp32, x: *fp32):
    v = load(x + arange(0, 256))
    store(r, max(v, axis=0))
    store(r + 1, min(v, axis=0))
    store(r + 2, max(v, axis=0, propagate_nan=True))
    store(r + 3, min(v, axis=0, propagate_nan=True))
    store(r + 4, sum(v, axis=0))
"""
    x = np.arange(256, dtype=np.float32)
    x[100] = np.nan
    xb, rb = bench.buffer("fp32", 256, x), bench.buffer("fp32", 5)
    bench.run(source, rb, xb)
    same_bits(rb.read(), np.array([255.0, 0.0, np.nan, np.nan, np.nan]), "NaN in reductions")


@case(rows=[1, 4, 16, 64], cols=[1, 8, 128])
def broadcast_outer(bench, rows, cols):
    source = """
@kernel(grid=(1,))
def f(r: *fp32, a: *fp32, b: *fp32, R: constexpr = 4, C: constexpr = 8):
    i, j = arange(0, R), arange(0, C)
    x, y = load(a + i), load(b + j)
    t = x[:, None] * y[None, :] + x[:, None]
    t = t - max(t, axis=1)[:, None] + sum(t, axis=0)[None, :]
    store(r + i[:, None] * C + j[None, :], t)
"""
    rng = np.random.default_rng(rows)
    x, y = rng.integers(-8, 8, rows).astype(np.float64), rng.integers(-8, 8, cols).astype(np.float64)
    t = x[:, None] * y[None, :] + x[:, None]
    t = t - t.max(axis=1)[:, None] + t.sum(axis=0)[None, :]
    a, b, r = bench.buffer("fp32", rows, x), bench.buffer("fp32", cols, y), bench.buffer("fp32", rows * cols)
    bench.run(source, r, a, b, defines={"R": rows, "C": cols})
    same_bits(r.read(), t.ravel(), f"{rows}x{cols}")


@case(rows=[8, 32, 64], cols=[16, 128])
def transposed_store(bench, rows, cols):
    source = """
@kernel(grid=(1,))
def f(r: *fp32, a: *fp32, R: constexpr = 8, C: constexpr = 8):
    i, j = arange(0, R)[:, None], arange(0, C)[None, :]
    store(r + j * R + i, load(a + i * C + j) + 1)
"""
    x = np.arange(rows * cols, dtype=np.float64)
    a, r = bench.buffer("fp32", x.size, x), bench.buffer("fp32", x.size)
    bench.run(source, r, a, defines={"R": rows, "C": cols})
    same_bits(r.read(), (x.reshape(rows, cols).T + 1).ravel(), "transpose")


@case(n=[0, 1, 5, 100])
def loops(bench, n):
    source = """
@jit
def step(x, k):
    return x * 3 + k

@kernel(grid=(2,))
def f(r: *i32, x: *i32, n: i32):
    i = arange(0, 64)
    acc = zeros((64,), i32)
    s = 0
    for k in range(0, n):
        acc += load(x + i) * k
        s = step(s, k)
    count = 0
    while count * count < n:
        count += 1
    t = 0
    for k in range(n, 0, -2):
        if k % 3 == 0:
            t += k
        else:
            t -= 1
    store(r + program_id(0) * 128 + i, acc)
    store(r + program_id(0) * 128 + 64, s)
    store(r + program_id(0) * 128 + 65, count)
    store(r + program_id(0) * 128 + 66, t)
"""
    rng = np.random.default_rng(n)
    x = rng.integers(-10, 10, 64)
    xb, rb = bench.buffer("i32", 64, x), bench.buffer("i32", 256, np.zeros(256))
    bench.run(source, rb, xb, n)
    s = 0
    for k in range(n):
        s = (s * 3 + k) & 0xFFFFFFFF
    count = 0
    while count * count < n:
        count += 1
    t = sum(k if k % 3 == 0 else -1 for k in range(n, 0, -2))
    got = rb.raw().reshape(2, 128)
    for row in got:
        same_bits(row[:64], (x * (n * (n - 1) // 2)).astype(np.int32), "carried tile")
        assert row[64] == np.uint32(s).astype(np.int32), "a call in a loop"
        assert (row[65], row[66]) == (count, t), (row[65], row[66], count, t)


@case()
def leave_early(bench):
    source = """
@kernel(grid=(10,))
def f(r: *i32, n: i32):
    p = program_id(0)
    if p >= n:
        return
    x = 0
    for k in range(0, 100):
        if k == 7:
            continue
        if k > p * 3:
            break
        x += k
    if p == 2:
        store(r + p, -1)
        return
    store(r + p, x)
"""
    r = bench.buffer("i32", 10, np.full(10, 99))
    bench.run(source, r, 8)
    want = []
    for p in range(10):
        x = sum(k for k in range(p * 3 + 1) if k != 7)
        want.append(99 if p >= 8 else -1 if p == 2 else x)
    same_bits(r.raw(), np.array(want, np.int32), "break, continue, return")


@case()
def branch_with_tiles(bench):
    source = """
@kernel(grid=(4,))
def f(r: *fp32, x: *fp32):
    p = program_id(0)
    i = arange(0, 128)
    v = load(x + i)
    if p % 2 == 0:
        w = v - max(v, axis=0)
    else:
        w = v + sum(v, axis=0)
    store(r + p * 128 + i, w if p < 2 else -w)
"""
    x = np.arange(128, dtype=np.float64)
    xb, rb = bench.buffer("fp32", 128, x), bench.buffer("fp32", 512)
    bench.run(source, rb, xb)
    want = [(x - x.max() if p % 2 == 0 else x + x.sum()) * (1 if p < 2 else -1) for p in range(4)]
    close(rb.read(), np.concatenate(want), 0, 0, "reductions in branches")


@case()
def swapped_tiles(bench):
    source = """
@kernel(grid=(1,))
def f(r: *i32, n: i32):
    i = arange(0, 64)
    a, b = i, i * 2 + 1
    for k in range(0, n):
        a, b = b, a + b
    store(r + i, a)
    store(r + 64 + i, b)
"""
    r = bench.buffer("i32", 128)
    bench.run(source, r, 7)
    a, b = np.arange(64), np.arange(64) * 2 + 1
    for _ in range(7):
        a, b = b, a + b
    same_bits(r.raw(), np.concatenate([a, b]).astype(np.int32), "two carried tiles that swap")


@case()
def grid_of_three(bench):
    source = """
@kernel(grid=(3, 4, 5))
def f(r: *i32):
    x, y, z = program_id(0), program_id(1), program_id(2)
    at = (z * num_programs(1) + y) * num_programs(0) + x
    store(r + at, x + 10 * y + 100 * z)
"""
    r = bench.buffer("i32", 60)
    bench.run(source, r)
    z, y, x = np.meshgrid(np.arange(5), np.arange(4), np.arange(3), indexing="ij")
    same_bits(r.raw(), (x + 10 * y + 100 * z).ravel().astype(np.int32), "three axes")


@case()
def wide_offsets(bench):
    """Products beyond 2^31 that come back into range: wrong if anything wraps on the way."""
    source = """
@kernel(grid=(1,))
def f(r: *i32, x: *i32, big: i32):
    i = arange(0, 32)
    o = big * 3
    o += i
    p = x + o - big * 2 - big
    store(r + i, load(p))
    store(r + 32, 1, mask=big * 3 > big)
"""
    x, r = bench.buffer("i32", 32, np.arange(32)), bench.buffer("i32", 33, np.zeros(33))
    bench.run(source, r, x, 2 ** 31 - 1)
    same_bits(r.raw(), np.concatenate([np.arange(32), [1]]).astype(np.int32), "wide offsets")


@case(n=[1, 63, 64, 1000])
def add(bench, n):
    from case import example
    rng = np.random.default_rng(n)
    a, b = (np.float32(rng.standard_normal(n)) for _ in range(2))
    ab, bb, rb = bench.buffer("fp32", n, a), bench.buffer("fp32", n, b), bench.buffer("fp32", n)
    bench.run(example("add.dsl"), rb, ab, bb, n)
    same_bits(rb.raw(), a + b, "add")


@case()
def one_long_block(bench):
    """4096 elements in a warp, one block of code: the emulator's took more than a minute to compile."""
    source = """
@kernel(grid=(2,))
def f(x: *const fp32, marks: *i1, z: *fp64, h: *fp16, g: *const fp16, at: *i32, y: *fp32, more: *fp32):
    pid = program_id(0)
    i = pid * 4096 + arange(0, 4096)
    a = min(0.5, load(x + (i * 3 & 8191)))
    first = pid * 4096 + arange(0, 4096)
    m = minimum(load(z + first, mask=(first < 33) & (first >= 0), other=0.0), 0.0625, propagate_nan=True) > -1.25
    j = arange(0, 4096) - 17
    t = load(h + j, mask=(j < 1) & (j >= 0))
    k = (full((1,), 2, i32) & 15) + 5
    store(marks + i + 16, t >= load(g + (0 - load(at + k, mask=(k < 255) & (k >= 0)) & 15)), mask=m)
    b = clamp(where(a == a, a, 1.0), -1.5, 2.0)
    store(y + i + 1, where(m, exp(clamp(where(b == b, b, 1.0), -8.0, 8.0)), 0.5))
    c = pid * 2 + arange(0, 1) * 2 + 4
    store(more + i + 16, load(x + c), mask=b + load(g + pid) <= 0.0)
"""
    rng, n = np.random.default_rng(0), 8192
    x, z = rng.standard_normal(n).astype(np.float32), np.full(n, -2.0)
    buffers = [bench.buffer("fp32", n, x), bench.buffer("i1", n + 16, np.zeros(n + 16)), bench.buffer("fp64", n, z)]
    buffers += [bench.buffer("fp16", 4096, np.zeros(4096)), bench.buffer("fp16", 16, np.zeros(16)),
                bench.buffer("i32", 256, np.zeros(256)), bench.buffer("fp32", n + 16), bench.buffer("fp32", n + 16)]
    started = time.process_time()
    bench.run(source, *buffers, num_warps=1)
    took = time.process_time() - started
    a = np.minimum(0.5, x[np.arange(n) * 3 % n])
    want = np.where(np.arange(n) < 33, 0.5, np.exp(np.clip(a.astype(np.float64), -1.5, 2.0)))
    close(buffers[6].read()[1:n + 1], want, 4 * U, 0, "exp")
    assert took < 30, f"{took:.0f} s to compile and run"
