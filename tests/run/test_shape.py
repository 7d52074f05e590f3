"""Elements that change their places: reshape, trans, join, split and what is made of them;
bit for bit what NumPy gives."""
import numpy as np

from case import case, example, same_bits
from fsc import decode

TYPES = ["i1", "i8", "i16", "i32", "i64", "u32", "fp16", "bf16", "fp32", "fp64"]

UNARY = """
@kernel(grid=(2,))
def f(r: *T, x: *T, N: constexpr = 64, M: constexpr = 64, T: dtype = fp32):
    p = program_id(0)
    x += p * N
    r += p * M
{body}
"""


def numbers(dtype, n, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "i1":
        return rng.integers(0, 2, n)
    low = 0 if dtype[0] == "u" else -100
    return rng.integers(low, 100, n)


def offsets(shape, base="0"):
    """Row-major offsets of a tile, as an expression of the language."""
    terms, stride = [], 1
    for d in range(len(shape) - 1, -1, -1):
        index = "[" + ", ".join(":" if i == d else "None" for i in range(len(shape))) + "]"
        terms.append(f"arange(0, {shape[d]}){index if len(shape) > 1 else ''} * {stride}")
        stride *= shape[d]
    return " + ".join(reversed(terms)) or base


def judge(bench, body, shape, want, dtype="fp32", warps=0, what=""):
    """body makes `y` of `v`, a tile of `shape` loaded by rows; want(x) is NumPy's."""
    n = int(np.prod(shape))
    x = numbers(dtype, 2 * n, n)
    expected = [np.asarray(want(part.reshape(shape))) for part in (x[:n], x[n:])]
    m, out = expected[0].size, expected[0].shape
    source = UNARY.format(body=f"    v = load(x + {offsets(shape)})\n" +
                          "".join(f"    {line}\n" for line in body.split("\n"))
                          + f"    store(r + {offsets(out)}, y)\n")
    xb, rb = bench.buffer(dtype, 2 * n, x), bench.buffer(dtype, 2 * m)
    bench.run(source, rb, xb, defines={"N": n, "M": m}, types={"T": dtype}, num_warps=warps)
    want_bits = bench.buffer(dtype, 2 * m, np.concatenate([e.ravel() for e in expected])).raw()
    same_bits(decode(rb.raw(), dtype), decode(want_bits, dtype), what or body)


@case(dtype=TYPES, warps=[1, 4, 8])
def transposed(bench, dtype, warps):
    judge(bench, "y = trans(v)", (16, 64), lambda x: x.T, dtype, warps)


@case(shape=[(1, 1), (1, 32), (2, 2), (4, 8), (64, 2), (64, 64), (256, 16)], warps=[1, 4, 8])
def transposed_shapes(bench, shape, warps):
    judge(bench, "y = v.T", shape, lambda x: x.T, "fp32", warps)
    judge(bench, "y = exp2(v).T * 0 + v.trans()", shape, lambda x: x.T, "fp32", warps)


ORDERS = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]


@case(order=ORDERS, shape=[(2, 4, 8), (16, 1, 32), (8, 64, 2), (32, 8, 16)])
def permuted(bench, order, shape):
    judge(bench, f"y = permute(v, {order[0]}, {order[1]}, {order[2]})", shape, lambda x: x.transpose(order), "i32", 4)
    judge(bench, f"y = tl.trans(v, {order})", shape, lambda x: x.transpose(order), "fp16", 1)


@case()
def permuted_rank5(bench):
    for order in ((4, 3, 2, 1, 0), (1, 3, 0, 4, 2), (0, 1, 2, 4, 3)):
        judge(bench, f"y = v.permute({order})", (2, 4, 2, 8, 4), lambda x: x.transpose(order), "i32", 4)


@case(warps=[1, 4], shape=[(2, 1, 4, 2, 8, 2), (2, 4, 2, 1, 2, 8, 2), (2, 2, 2, 2, 2, 2, 2)])
def seven_dimensions(bench, warps, shape):
    """As many as a tile can have: other orders and shapes, sums, scans and reversals along each."""
    rank = len(shape)
    rng = np.random.default_rng(rank)
    for order in (range(rank)[::-1], rng.permutation(rank), rng.permutation(rank), range(rank)):
        order = tuple(int(d) for d in order)
        judge(bench, f"y = permute(v, {order})", shape, lambda x, o=order: x.transpose(o), "i32", warps)
        judge(bench, f"y = reshape(permute(v, {order}) + 1, {shape})", shape,
              lambda x, o=order: x.transpose(o).reshape(shape) + 1, "i32", warps)
    for d in range(rank):
        judge(bench, f"y = v - sum(v, {d}, keep_dims=True)", shape, lambda x: x - x.sum(d, keepdims=True), "i32", warps)
        judge(bench, f"y = cumsum(flip(v, {d}), {d})", shape, lambda x: np.flip(x, d).cumsum(d), "i32", warps)


RESHAPES = [((64,), (8, 8)), ((8, 8), (64,)), ((4, 16), (16, 4)), ((2, 4, 8), (8, 8)), ((32, 32), (2, 8, 4, 16)),
            ((1024,), (1, 32, 32)), ((16, 1, 16), (4, 64)), ((2, 2, 2, 2, 2), (32,)), ((128, 64), (64, 128)),
            ((16,), (2, 8, 1)), ((16,), (1, 2, 1, 8, 1)), ((8, 1), (1, 2, 4, 1)), ((1, 4), (4, 1)), ((64,), (64, 1, 1)),
            ((1,), (1, 1, 1))]


@case(shapes=RESHAPES, dtype=["i8", "bf16", "fp32", "fp64"], warps=[1, 4])
def reshaped(bench, shapes, dtype, warps):
    a, b = shapes
    judge(bench, f"y = reshape(v, {b})", a, lambda x: x.reshape(b), dtype, warps)


@case(warps=[1, 4, 8])
def reshaped_forms(bench, warps):
    judge(bench, "y = v.view(4, 4, 4)", (64,), lambda x: x.reshape(4, 4, 4), "fp32", warps)
    judge(bench, "y = v.reshape(16, 4, can_reorder=True)", (8, 8), lambda x: x.reshape(16, 4), "fp32", warps)
    judge(bench, "y = ravel(v)", (4, 2, 8), lambda x: x.ravel(), "fp32", warps)
    judge(bench, "y = v[:, None].squeeze(1)", (64,), lambda x: x, "fp32", warps)
    judge(bench, "y = tl.squeeze(v, -3)", (1, 8, 8), lambda x: x[0], "fp32", warps)
    judge(bench, "y = unsqueeze(v, 1).trans(1, 0, 2)", (8, 8), lambda x: x[None], "fp32", warps)
    judge(bench, "y = v.reshape(4, 4, 4, 4).trans(0, 2, 1, 3).reshape(16, 16) + v", (16, 16),
          lambda x: x.reshape(4, 4, 4, 4).transpose(0, 2, 1, 3).reshape(16, 16) + x, "i32", warps)
    judge(bench, "y = sum(v.reshape(8, 32), 1)", (16, 16), lambda x: x.reshape(8, 32).sum(1), "i32", warps)
    judge(bench, "y = max(v.trans(), axis=1)[:, None] + v.T", (16, 32), lambda x: x.T + x.max(0)[:, None], "i32", warps)
    judge(bench, "y = zeros((8, 8), T) + sum(v).reshape(1, 1)", (8, 8), lambda x: np.full((8, 8), x.sum()), "i32",
          warps)


@case(warps=[1, 4])
def axes_of_one(bench, warps):
    """Ones in front, between and behind, through one builtin after the other; and scalars."""
    judge(bench, "y = permute(v.reshape(32, 2, 1), 2, 0, 1)", (64,), lambda x: x.reshape(1, 32, 2), "i32", warps)
    judge(bench, "a, b = v.reshape(8, 1, 2).split()\ny = join(b, a).reshape(1, 16, 1)", (16,),
          lambda x: x.reshape(8, 2)[:, ::-1].reshape(1, 16, 1), "i32", warps)
    judge(bench, "y = sort(cumsum(v.view(4, 4, 1), 2), 1)", (16,), lambda x: np.sort(x.reshape(4, 4, 1), 1), "i32",
          warps)
    judge(bench, "y = flip(sum(v.reshape(2, 8, 1), 0, keep_dims=True), 2)", (16,),
          lambda x: x.reshape(2, 8, 1).sum(0, keepdims=True), "i32", warps)
    judge(bench, "y = broadcast_to(v.reshape(2, 8, 1), (2, 8, 4)) + v.reshape(1, 2, 8).trans(1, 2, 0)", (16,),
          lambda x: np.broadcast_to(2 * x.reshape(2, 8, 1), (2, 8, 4)), "i32", warps)
    judge(bench, "a, b = max(sum(v) + 5, return_indices=True)\ny = v + a + b", (16,), lambda x: x + x.sum() + 5, "i32",
          warps)
    judge(bench, "y = permute(sum(v), ()).reshape(1, 1) + v.permute(0)", (16,), lambda x: x[None] + x.sum(), "i32",
          warps)


@case(n=[1, 2, 32, 128, 1024], dtype=["i1", "i8", "i32", "fp16", "fp32", "fp64"], warps=[1, 4])
def joined(bench, n, dtype, warps):
    judge(bench, "y = join(v, reshape(v, v.shape))", (n,), lambda x: np.stack([x, x], -1), dtype, warps)
    other = "v == 0" if dtype == "i1" else "(v * 3).to(T)"
    expected = (lambda x: 1 - x) if dtype == "i1" else (lambda x: (x * 3).astype(np.int8) if dtype == "i8" else x * 3)
    value = "v != 0" if dtype == "i1" else "v"
    judge(bench, f"y = join({value}, {other})", (n,), lambda x: np.stack([x, expected(x)], -1), dtype, warps)
    judge(bench, f"y = interleave({value}, {other})", (n,), lambda x: np.stack([x, expected(x)], -1).ravel(), dtype,
          warps)
    judge(bench, f"y = cat({value}, {other}, can_reorder=True)", (n,), lambda x: np.concatenate([x, expected(x)]),
          dtype, warps)


@case(warps=[1, 4, 8], shape=[(8, 2), (512, 2), (4, 16, 2), (32, 64, 2), (1, 2)])
def parted(bench, warps, shape):
    judge(bench, "a, b = split(v)\ny = a * 1000 + b", shape, lambda x: x[..., 0] * 1000 + x[..., 1], "i32", warps)
    judge(bench, "a, b = v.split()\ny = join(b, a)", shape, lambda x: x[..., ::-1], "fp32", warps)
    judge(bench, "a, b = v.split()\ny = interleave(a + b, a - b)", shape,
          lambda x: np.stack([x[..., 0] + x[..., 1], x[..., 0] - x[..., 1]], -1).reshape(x.shape[:-2] + (-1,)), "fp32",
          warps)


@case(warps=[1, 4])
def parted_otherwise(bench, warps):
    """Halves of rows, even and odd elements, an index that no memory holds."""
    judge(bench, "a, b = v.reshape(16, 2, 16).trans(0, 2, 1).split()\ny = a - b", (16, 32),
          lambda x: x[:, :16] - x[:, 16:], "i32", warps)
    judge(bench, "a, b = (arange(0, 16)[:, None] * 10 + arange(0, 2)[None, :]).split()\ny = v + a * 100 + b", (16,),
          lambda x: x + np.arange(16) * 1010 + 1, "i32", warps)
    judge(bench, "y = cat(v, v * 2, dim=1)", (8, 4), lambda x: np.concatenate([x, x * 2], 1), "i32", warps)
    judge(bench, "y = cat(v, v * 2)", (8, 4), lambda x: np.concatenate([x, x * 2], 0), "i32", warps)
    judge(bench, "y = cat(v, v + 1, True, -1)", (2, 8, 4), lambda x: np.concatenate([x, x + 1], 2), "i32", warps)
    judge(bench, "y = join(sum(v), max(v))", (64,), lambda x: np.array([x.sum(), x.max()]), "i32", warps)
    judge(bench, "a, b = join(sum(v), max(v)).split()\ny = v + a - b", (64,), lambda x: x + x.sum() - x.max(), "i32",
          warps)
    judge(bench, "y = join(v, 7)", (64,), lambda x: np.stack([x, np.full(64, 7)], -1), "fp32", warps)


@case(warps=[1, 4])
def moved_pointers(bench, warps):
    """Offsets, pointers and masks that were moved themselves."""
    judge(bench, f"y = load((x + {offsets((16, 64))}).trans())", (16, 64), lambda x: x.T, "fp32", warps)
    judge(bench, "y = load(x + arange(0, 1024).reshape(16, 64).trans())", (16, 64), lambda x: x.T, "fp16", warps)
    judge(bench, "y = load(ravel(x + arange(0, 1024).reshape(16, 64)))", (16, 64), lambda x: x.ravel(), "fp32", warps)
    judge(bench, "i = interleave(arange(0, 8), arange(8, 16))\ny = load(x + i)", (16,),
          lambda x: np.stack([x[:8], x[8:]], -1).ravel(), "i32", warps)
    judge(bench, "p = join(x + arange(0, 16), x + arange(16, 32))\ny = load(p)", (32,), lambda x: x.reshape(2, 16).T,
          "i32", warps)
    judge(bench, "m = (arange(0, 64) < 37).reshape(8, 8)\ny = load(x + arange(0, 64).reshape(8, 8), mask=m, other=5)",
          (8, 8), lambda x: np.where(np.arange(64) < 37, x.ravel(), 5).reshape(8, 8), "i32", warps)
    judge(bench, "m = (arange(0, 64) < 37).reshape(8, 8).T\ny = load(x + arange(0, 64).reshape(8, 8), mask=m)", (8, 8),
          lambda x: np.where((np.arange(64) < 37).reshape(8, 8).T, x, 0), "i32", warps)


@case(warps=[1, 4, 8], stride=[1, 2])
def transposed_where_it_lies(bench, warps, stride):
    """What one thread reads another writes."""
    source = """
@kernel(grid=(1,))
def f(x: *i32, S: constexpr = 1):
    i = arange(0, 32)
    p = x + i[:, None] * (32 * S) + i[None, :] * S
    store(p, load(p).trans())
    v = load(p)
    store(x + i[:, None] * S + i[None, :] * (32 * S), v + 1)
"""
    x = np.arange(1024 * stride)
    want = x.copy().reshape(32, 32, stride)
    want[:, :, 0] = want[:, :, 0] + 1
    xb = bench.buffer("i32", x.size, x)
    bench.run(source, xb, defines={"S": stride}, num_warps=warps)
    same_bits(xb.raw(), want.ravel().astype(np.int32), "transposed twice in place")


@case(warps=[1, 4])
def moved_in_a_loop(bench, warps):
    source = """
@kernel(grid=(1,))
def f(r: *i32, x: *i32, n: i32):
    i = arange(0, 32)[:, None] * 32 + arange(0, 32)[None, :]
    v = load(x + i)
    acc = zeros((32, 32), i32)
    k = 0
    while k < n:
        v = v.T
        acc = acc.reshape(16, 64).reshape(32, 32) + v * (k + 1)
        k += 1
    for j in range(0, n):
        acc += v.trans() if j % 2 == 0 else v
    store(r + i, acc)
"""
    x = np.arange(1024).reshape(32, 32) % 97
    xb, rb = bench.buffer("i32", 1024, x.ravel()), bench.buffer("i32", 1024)
    bench.run(source, rb, xb, 5, num_warps=warps)
    v, acc = x, np.zeros((32, 32), np.int64)
    for k in range(5):
        v = v.T
        acc = acc + v * (k + 1)
    for j in range(5):
        acc = acc + (v.T if j % 2 == 0 else v)
    same_bits(rb.raw(), acc.ravel().astype(np.int32), "carried")


GATHER = """
@kernel(grid=(2,))
def f(r: *T, x: *T, k: *I, T: dtype = fp32, I: dtype = i32):
    p = program_id(0)
    v = load(x + p * {n} + {source})
    i = load(k + p * {m} + {result})
    store(r + p * {m} + {result}, gather(v, i, {axis}))
"""


@case(axis=[0, 1, 2], dtype=["i1", "i8", "fp16", "fp32", "fp64"], warps=[1, 4, 8],
      sizes=[(8, 1), (4, 4), (2, 64), (1, 8)])
def gathered_along(bench, axis, dtype, warps, sizes):
    """Any index along any axis; the source shorter or longer than the result; indexes wrap."""
    shape, out = [4, 8, 2], [4, 8, 2]
    shape[axis], out[axis] = sizes
    n, m = int(np.prod(shape)), int(np.prod(out))
    x = numbers(dtype, 2 * n, axis)
    index_type = "i32" if dtype != "i8" else "i64"
    k = np.random.default_rng(n).integers(-sizes[0], 3 * sizes[0], (2, *out))
    source = GATHER.format(n=n, m=m, source=offsets(shape), result=offsets(out), axis=axis - 3 if warps == 4 else axis)
    xb, kb, rb = bench.buffer(dtype, 2 * n, x), bench.buffer(index_type, 2 * m, k.ravel()), bench.buffer(dtype, 2 * m)
    bench.run(source, rb, xb, kb, types={"T": dtype, "I": index_type}, num_warps=warps)
    image = xb.raw().reshape(2, *shape)
    want = np.take_along_axis(image, k % sizes[0], axis + 1)
    same_bits(decode(rb.raw(), dtype), decode(want.ravel(), dtype), f"{shape} by {out} along {axis}")


@case(n=[1, 2, 64, 1024], warps=[1, 4, 8], dtype=["i8", "bf16", "fp32", "i64"])
def flipped(bench, n, warps, dtype):
    judge(bench, "y = flip(v)", (n,), lambda x: x[::-1], dtype, warps)
    judge(bench, "y = v.flip(0)", (n, 4), lambda x: x[::-1], dtype, warps)
    judge(bench, "y = tl.flip(v, -1)", (4, n), lambda x: x[:, ::-1], dtype, warps)


@case(warps=[1, 4])
def gathered_twice(bench, warps):
    """One gather feeds the next; rows taken by an index per row; a source that is no load; in a loop."""
    judge(bench, "i = (arange(0, 64) * 7 + 3) % 64\ny = gather(gather(v, i, 0), i, 0)", (64,),
          lambda x: x[(np.arange(64) * 7 + 3) % 64][(np.arange(64) * 7 + 3) % 64], "i32", warps)
    judge(bench, "i = broadcast_to((arange(0, 16) ^ 5)[:, None], (16, 32))\ny = v.gather(i, axis=0)", (16, 32),
          lambda x: x[np.arange(16) ^ 5], "fp32", warps)
    judge(bench, "y = gather(arange(0, 64) * 3, v.to(i32), 0)", (64,), lambda x: x % 64 * 3, "i32", warps)
    judge(bench, "y = v\nfor k in range(0, 5):\n    y = gather(y, (arange(0, 256) + k) % 256, 0) + flip(y)", (256,),
          looped, "i32", warps)
    judge(bench, "y = v\nfor k in range(0, 3):\n    y = y.T * 2", (32, 32), lambda x: x.T * 8, "i32", warps)
    judge(bench, "y = v\nfor k in range(0, 3):\n    a, b = y.reshape(128, 2).split()\n    y = cat(b, a)", (256,), dealt,
          "i32", warps)
    judge(bench, "y = v + gather(full((64,), 5, i32), arange(0, 64), 0)", (64,), lambda x: x + 5, "i32", warps)


def looped(x):
    for k in range(5):
        x = np.roll(x, -k) + x[::-1]
    return x


def dealt(x):
    for _ in range(3):
        x = np.concatenate([x[1::2], x[::2]])
    return x


TRITON = """
@triton.jit
def f(y, x, n):
    i = tl.arange(0, 16)
    r = tl.arange(0, 4)[:, None]
    v = tl.load(x + i[None, :], mask=r < n, other=7)
    i = i + 16 * tl.program_id(0)[:, None]
    p = y + i + 32 * r
    for i in range(n, 0, -1):
        v += i
    tl.store(p, v, mask=(v > 0) * (r != 1))
"""


@case(warps=[1, 4], n=[0, 2, 4])
def triton_shapes(bench, warps, n):
    """In a Triton file pointers grow to their mask, and a scalar takes `[:, None]`;
    a loop variable may have been a tile."""
    x = np.arange(16) - 3
    xb, yb = bench.buffer("i32", 16, x), bench.buffer("i32", 128, np.full(128, 99))
    bench.run(TRITON, yb, xb, n, grid=[2], file="f.py", num_warps=warps)
    v = np.where(np.arange(4)[:, None] < n, x, 7) + n * (n + 1) // 2
    want = np.where((v > 0) & (np.arange(4)[:, None] != 1), v, 99)
    same_bits(yb.raw(), np.concatenate([want, want], 1).ravel().astype(np.int32), "of a Triton file")


# ---- Examples --------------------------------------------------------------------------------------------------------

EXAMPLE_TYPES = ["fp32", "fp16", "bf16"]


@case(dtype=EXAMPLE_TYPES, shape=[(1, 1), (1, 129), (31, 33), (64, 32), (100, 7), (129, 65)], block=[16, 32],
      warps=[0, 1, 8])
def example_transpose(bench, dtype, shape, block, warps):
    rows, cols = shape
    x_stride, y_stride = cols + 3, rows + 5
    x = np.random.default_rng(rows).standard_normal((rows, x_stride))
    xb, yb = bench.buffer(dtype, x.size, x.ravel()), bench.buffer(dtype, cols * y_stride)
    before = yb.raw().reshape(cols, y_stride)
    bench.run(example("transpose.dsl"), yb, xb, y_stride, x_stride, rows, cols, defines={"BLOCK": block},
              types={"T": dtype}, num_warps=warps)
    after, image = yb.raw().reshape(cols, y_stride), xb.raw().reshape(x.shape)
    same_bits(decode(np.ascontiguousarray(after[:, :rows]), dtype), decode(image[:, :cols].T.copy(), dtype),
              "transpose")
    assert after[:, rows:].tobytes() == before[:, rows:].tobytes(), "written between the rows"


@case(dtype=EXAMPLE_TYPES, cols=[1, 33, 128, 781], step=[1, 3], warps=[0, 1, 8])
def example_gather_rows(bench, dtype, cols, step, warps):
    table, rows, out = 19, 13, -(-cols // step)
    rng = np.random.default_rng(cols)
    x = rng.standard_normal((table, cols + 2))
    k = np.concatenate([rng.integers(-table, table, rows - 3), [table, -table - 1, 2 ** 30]])
    xb, kb = bench.buffer(dtype, x.size, x.ravel()), bench.buffer("i32", rows, k)
    yb = bench.buffer(dtype, rows * (out + 1))
    bench.run(example("gather_rows.dsl"), yb, xb, kb, out + 1, cols + 2, rows, table, out, cols, defines={"STEP": step},
              types={"T": dtype}, num_warps=warps)
    image = xb.raw().reshape(x.shape)
    good = (k >= -table) & (k < table)
    want = np.where(good[:, None], image[np.where(good, k, 0)][:, :cols:step], np.zeros((), image.dtype))
    same_bits(decode(np.ascontiguousarray(yb.raw().reshape(rows, out + 1)[:, :out]), dtype), decode(want, dtype),
              "gathered rows")


SWIZZLE = """
@kernel(grid=(size_i, size_j))
def f(y: *i32, z: *i32, size_i: i32, size_j: i32, size_g: i32):
    i, j = swizzle2d(program_id(0), program_id(1), size_i, size_j, size_g)
    store(y + program_id(0) * size_j + program_id(1), i * 1000 + j)
    if program_id(0) + program_id(1) == 0:
        r, s = tl.swizzle2d(arange(0, 8)[:, None], arange(0, 4)[None, :], 8, 4, 3)
        store(z + arange(0, 8)[:, None] * 4 + arange(0, 4)[None, :], r * 1000 + s)
"""


def swizzled(size_i, size_j, size_g):
    """Band after band, each down its columns."""
    places = [(i, j) for first in range(0, size_i, size_g) for j in range(size_j)
              for i in range(first, min(first + size_g, size_i))]
    return np.array([1000 * i + j for i, j in places], np.int32)


@case(sizes=[(1, 1, 1), (4, 4, 2), (7, 3, 3), (5, 6, 8), (6, 5, 1)])
def swizzle(bench, sizes):
    y, z = bench.buffer("i32", sizes[0] * sizes[1]), bench.buffer("i32", 32)
    bench.run(SWIZZLE, y, z, *sizes)
    same_bits(y.raw(), swizzled(*sizes), f"swizzle2d of {sizes}")
    same_bits(z.raw(), swizzled(8, 4, 3), "swizzle2d of tiles")
