"""Block pointers and tensor descriptors: what lies within the array is loaded and stored, what lies beyond it is
padding, before it as behind it; bit for bit what NumPy's slices give."""
import numpy as np

from case import U, case, close, must_fail, same_bits
from fsc import decode

LOADS = """
@kernel(grid=(1,))
def f(r: *T, x: *T[m:S, n], m: i32, n: i32, row: i32, col: i32, S: constexpr = 0, A: constexpr = 16, B: constexpr = 16,
      T: dtype = fp32):
{body}
    store(r + arange(0, A)[:, None] * B + arange(0, B)[None, :], v)
"""
POINTER = ('    p = make_block_ptr(x, (m, n), (S, 1), (row, col), (A, B), (1, 0))\n    v = load(p, boundary_check=(0, '
           '1){pad})')
FORMS = {
    "pointer": POINTER.format(pad=""),
    "zero": POINTER.format(pad=', padding_option="zero"'),
    "nan": POINTER.format(pad=', padding_option="nan"'),
    "method": '    v = tl.make_block_ptr(base=x, shape=[m, n], strides=[S, 1], offsets=[row, col], block_shape=[A, B], '
              'order=(1, 0)).load('
              'boundary_check=(1, 0))',
    "advanced": '    p = make_block_ptr(x, (m, n), (S, 1), (0, col - 5), (A, B), (0, 1))\n    p = advance(p, (row, '
                '2))\n    p = p.advance((0, 3))\n'
                '    v = load(p, boundary_check=(0, 1))',
    "descriptor": "    d = make_tensor_descriptor(x, [m, n], [S, 1], [A, B])\n"
                  "    static_assert(isinstance(d, tl.tensor_descriptor))\n    v = d.load([row, col])",
    "descriptor nan": '    d = make_tensor_descriptor(x, (m, n), (S, 1), (A, B), padding_option="nan")\n'
                      "    v = tl.load_tensor_descriptor(d, (row, col))",
    "contract": "    d = make_tensor_descriptor(x, block_shape=(A, B))\n    m = 1\n    v = d.load([row, col])",
    "flipped": "    d = make_tensor_descriptor(x, (n, m), (1, S), (B, A))\n    v = d.load((col, row)).T",
}
PLACES = [(0, 0), (3, 5), (-7, 0), (0, -9), (-3, -20), (20, 4), (37, 33), (100, 2), (2, -100)]


def part(x, row, col, shape, fill):
    want = np.full(shape, fill, x.dtype)
    for i in range(shape[0]):
        for j in range(shape[1]):
            if 0 <= row + i < x.shape[0] and 0 <= col + j < x.shape[1]:
                want[i, j] = x[row + i, col + j]
    return want


def judge_load(bench, form, dtype, place, shape, size=(37, 41), stride=45, source=LOADS):
    """The array's last row ends with its last element: a load beyond it would leave the buffer's bounds."""
    m, n = size
    whole = np.random.default_rng(m).integers(0, 100, (m, stride))
    xb, rb = bench.buffer(dtype, (m - 1) * stride + n,
                          whole.ravel()[:(m - 1) * stride + n]), bench.buffer(dtype, shape[0] * shape[1])
    bench.run(source.format(body=FORMS[form]), rb, xb, m, n, *place,
              defines={"S": stride, "A": shape[0], "B": shape[1]}, types={"T": dtype})
    want = part(whole[:, :n].astype(float), *place, shape, np.nan if "nan" in form else 0)
    same_bits(decode(rb.raw(), dtype).reshape(shape).astype(float), want, f"{form} at {place}")


@case(form=list(FORMS), dtype=["fp16", "fp32"], place=PLACES)
def block_loads(bench, form, dtype, place):
    judge_load(bench, form, dtype, place, (16, 16))


@case(form=["pointer", "descriptor"], dtype=["i8", "i32", "i64", "bf16", "fp64"],
      shape=[(1, 64), (64, 1), (8, 32), (128, 16)])
def block_shapes(bench, form, dtype, shape):
    judge_load(bench, form, dtype, (1, 3), shape)


@case(warps=[1, 4])
def unchecked_axes(bench, warps):
    """An axis that boundary_check does not name is loaded as it is."""
    x = np.arange(64 * 40)
    xb, rb = bench.buffer("i32", x.size, x), bench.buffer("i32", 256)
    bench.run("""
@kernel(grid=(1,))
def f(r: *i32, x: *i32):
    p = make_block_ptr(x, (20, 10), (40, 1), (12, 4), (16, 16), (1, 0))
    store(r + arange(0, 16)[:, None] * 16 + arange(0, 16)[None, :], load(p, boundary_check=0))
""", rb, xb, num_warps=warps)
    want = x.reshape(64, 40)[12:28, 4:20].copy()
    want[8:] = 0
    same_bits(rb.raw().reshape(16, 16), want.astype(np.int32), "one axis checked")


STORES = {
    "pointer": "store(make_block_ptr(y, (m, n), (S, 1), (row, col), (16, 16), (1, 0)), v, boundary_check=(0, 1))",
    "method": "make_block_ptr(y, (m, n), (S, 1), (row, col), (16, 16), (1, 0)).store(v, boundary_check=(0, 1))",
    "descriptor": "make_tensor_descriptor(y, (m, n), (S, 1), (16, 16)).store((row, col), v)",
    "function": "store_tensor_descriptor(make_tensor_descriptor(y, (m, n), (S, 1), (16, 16)), [row, col], v)",
    "scalar": "make_tensor_descriptor(y, (m, n), (S, 1), (16, 16)).store((row, col), 7)",
}


@case(form=list(STORES), dtype=["fp16", "i32"], place=PLACES)
def block_stores(bench, form, dtype, place):
    m, n, stride = 37, 41, 45
    before = np.full((m, stride), 3.0)
    yb = bench.buffer(dtype, m * stride, before.ravel())
    bench.run("@kernel(grid=(1,))\ndef f(y: *T, m: i32, n: i32, row: i32, col: i32, S: constexpr = 0, T: dtype = "
              "fp32):\n"
              "    v = (arange(0, 16)[:, None] * 16 + arange(0, 16)[None, :]).to(T)\n    " + STORES[form], yb, m, n,
              *place, defines={"S": stride}, types={"T": dtype})
    want = before.copy()
    for i in range(16):
        for j in range(16):
            if 0 <= place[0] + i < m and 0 <= place[1] + j < n:
                want[place[0] + i, place[1] + j] = 7 if form == "scalar" else i * 16 + j
    same_bits(decode(yb.raw(), dtype).astype(float), want.ravel(), f"{form} at {place}")


ATOMICS = {"add": lambda a, b: a + b, "max": np.maximum, "min": np.minimum, "and": lambda a, b: a & b,
           "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}

CALLS = {"add": "d.atomic_add((row, col), v)", "max": "d.atomic_max((row, col), v)",
         "min": "d.atomic_min((row, col), v)", "and": "atomic_and_tensor_descriptor(d, (row, col), v)",
         "or": "d.atomic_or([row, col], v)", "xor": "d.atomic_xor(offsets=(row, col), value=v)"}


@case(op=list(ATOMICS), place=PLACES[:6])
def block_atomics(bench, op, place):
    m, n = 37, 41
    x = np.random.default_rng(3).integers(0, 1000, (m, n))
    yb = bench.buffer("i32", x.size, x.ravel())
    bench.run(f"""
@kernel(grid=(1,))
def f(y: *i32, m: i32, n: i32, row: i32, col: i32):
    d = make_tensor_descriptor(y, (m, n), (n, 1), (8, 16))
    v = arange(0, 8)[:, None] * 16 + arange(0, 16)[None, :]
    {CALLS[op]}
""", yb, m, n, *place)
    v, want = np.arange(128).reshape(8, 16), x.copy()
    for i in range(8):
        for j in range(16):
            if 0 <= place[0] + i < m and 0 <= place[1] + j < n:
                want[place[0] + i, place[1] + j] = ATOMICS[op](x[place[0] + i, place[1] + j], v[i, j])
    same_bits(yb.raw(), want.ravel().astype(np.int32), f"{op} at {place}")


@case(rank=[1, 3, 4])
def block_ranks(bench, rank):
    sizes, shape = (5, 6, 7, 9)[4 - rank:], (4, 4, 4, 8)[4 - rank:]
    x = np.random.default_rng(rank).integers(0, 100, sizes)
    strides = [s // 8 for s in np.zeros(sizes, np.int64).strides]
    xb, rb = bench.buffer("i32", x.size, x.ravel()), bench.buffer("i32", int(np.prod(shape)))
    offsets = " + ".join(f"arange(0, {shape[d]})" +
                         ("[" + ", ".join(":" if i == d else "None" for i in range(rank)) + "]" if rank > 1 else "")
                         + f" * {int(np.prod(shape[d + 1:]))}" for d in range(rank))
    one = f"{tuple(sizes)}, {tuple(strides)}" if rank > 1 else f"{sizes[0]}, 1"
    block, at = (f"{tuple(shape)}", f"{tuple([2] * rank)}") if rank > 1 else (f"{shape[0]}", "2")
    bench.run(f"@kernel(grid=(1,))\ndef f(r: *i32, x: *i32):\n    d = make_tensor_descriptor(x, {one}, {block})\n    "
              f"store(r + {offsets}, d.load({at}))\n",
              rb, xb)
    want = np.zeros(shape, np.int32)
    inside = tuple(slice(0, min(shape[d], sizes[d] - 2)) for d in range(rank))
    want[inside] = x[tuple(slice(2, 2 + s.stop) for s in inside)]
    same_bits(rb.raw().reshape(shape), want, f"rank {rank}")


@case(dtype=["fp16", "i32"], column=[0, 5, -3, 30, 70], pad=["zero", "nan"])
def block_rows(bench, dtype, column, pad):
    """Rows by number, some of which are not there."""
    if pad == "nan" and dtype == "i32":
        return
    m, n, rows = 11, 37, np.array([3, 0, 10, 11, -1, 5, 5, 2 ** 31 - 1])
    x = np.random.default_rng(1).integers(0, 100, (m, n))
    xb, ib, rb = bench.buffer(dtype, x.size, x.ravel()), bench.buffer("i32", 8, rows), bench.buffer(dtype, 128)
    bench.run(f"""
@kernel(grid=(1,))
def f(r: *T, x: *T, i: *i32, m: i32, n: i32, column: i32, T: dtype = fp16):
    d = make_tensor_descriptor(x, (m, n), (n, 1), (1, 16), padding_option="{pad}")
    store(r + arange(0, 8)[:, None] * 16 + arange(0, 16)[None, :], d.gather(load(i + arange(0, 8)), column))
""", rb, xb, ib, m, n, column, types={"T": dtype})
    fill = np.nan if pad == "nan" else 0
    want = np.stack([part(x.astype(float), r, column, (1, 16), fill)[0] for r in rows])
    same_bits(decode(rb.raw(), dtype).reshape(8, 16).astype(float), want, f"rows from {column}")


@case(column=[0, 5, -3, 30])
def block_rows_stored(bench, column):
    m, n, rows = 11, 37, np.array([3, 0, 10, 11, -1, 5, 6, 2 ** 31 - 1])
    x, v = np.random.default_rng(1).integers(0, 100, (m, n)), np.arange(128).reshape(8, 16)
    xb, ib = bench.buffer("i32", x.size, x.ravel()), bench.buffer("i32", 8, rows)
    bench.run("""
@kernel(grid=(1,))
def f(x: *i32, i: *i32, m: i32, n: i32, column: i32):
    d = make_tensor_descriptor(x, (m, n), (n, 1), (1, 16))
    v = arange(0, 8)[:, None] * 16 + arange(0, 16)[None, :]
    scatter_tensor_descriptor(d, v, load(i + arange(0, 8)), column)
""", xb, ib, m, n, column)
    for row, values in zip(rows, v):
        for j, value in enumerate(values):
            if 0 <= row < m and 0 <= column + j < n:
                x[row, column + j] = value
    same_bits(xb.raw(), x.ravel().astype(np.int32), f"rows from {column}")


HOST = """
@triton.jit
def f(y, x, one, first: tl.constexpr):
    at = [tl.program_id(0) * 8, first]
    v = x.load(at) + tl.load(one)
    tl.static_assert(x.dtype == y.dtype and x.block_shape[1] == 16)
    y.store(at, v.to(y.dtype) * (x.shape[1] - x.strides[0] + 5).to(y.dtype))
"""


@case(dtype=["fp16", "i32"], size=[(16, 16), (13, 11), (1, 1)], pad=[0, 3])
def block_of_host(bench, dtype, size, pad):
    """Descriptors made by the host: pointer, sizes, strides but the last."""
    m, n = size
    x = np.random.default_rng(m).integers(0, 50, (m, n + pad))
    xb = bench.buffer(dtype, (m - 1) * (n + pad) + n, x.ravel()[:(m - 1) * (n + pad) + n])
    yb, one = bench.buffer(dtype, m * n, np.zeros(m * n)), bench.buffer(dtype, 1, np.ones(1))
    text = f"tensordesc<{dtype}[8,16]>"
    bench.run(HOST, yb, m, n, n, xb, m, n, n + pad, one, file="host.py", types={"y": text, "x": text},
              defines={"first": 0}, grid=[2])
    want = np.zeros((m, n))
    want[:16, :16] = ((x[:, :n] + 1) * (5 - pad))[:16, :16]
    same_bits(decode(yb.raw(), dtype).reshape(m, n).astype(float), want, f"{size}")


FLOWS = """
@jit
def step(p, far):
    if far:
        return advance(p, (0, 32))
    return advance(p, (0, 16))

@kernel(grid=(1,))
def f(r: *i32, x: *i32, n: i32, rounds: i32):
    p = make_block_ptr(x, (16, n), (n, 1), (0, 0), (16, 16), (1, 0))
    d = make_tensor_descriptor(x, (16, n), (n, 1), (16, 16))
    q = p
    s = zeros((16, 16), i32)
    for k in range(rounds):
        v = load(p, boundary_check=(0, 1))
        s += v * (k + 1) + d.load((0, 16 * k))
        if k % 2 == 0:
            p = step(p, k % 4 == 0)
        else:
            p, q = advance(p, (0, -16)), p
    k = 0
    while k < 2:
        s += q.load(boundary_check=(1,))
        q = advance(q, (0, 16))
        k += 1
    store(r + arange(0, 16)[:, None] * 16 + arange(0, 16)[None, :], s)
"""


@case(rounds=[0, 1, 2, 5, 9])
def block_flows(bench, rounds):
    """Carried by loops, chosen by branches, handed to functions and back, swapped."""
    n = 71
    x = np.random.default_rng(7).integers(0, 100, (16, n))
    xb, rb = bench.buffer("i32", x.size, x.ravel()), bench.buffer("i32", 256)
    bench.run(FLOWS, rb, xb, n, rounds)
    s, p, q = np.zeros((16, 16)), 0, 0
    for k in range(rounds):
        s += part(x, 0, p, (16, 16), 0) * (k + 1) + part(x, 0, 16 * k, (16, 16), 0)
        if k % 2 == 0:
            p += 32 if k % 4 == 0 else 16
        else:
            p, q = p - 16, p
    s += part(x, 0, q, (16, 16), 0) + part(x, 0, q + 16, (16, 16), 0)
    same_bits(rb.raw().reshape(16, 16), s.astype(np.int32), f"{rounds} rounds")


MATMUL = """
@kernel(grid=(cdiv(M, 64), cdiv(N, 32)))
def f(c: *T, a: *const T, b: *const T, M: i32, N: i32, K: i32, T: dtype = fp16):
    m, n = program_id(0) * 64, program_id(1) * 32
    acc = zeros((64, 32), fp32)
    {make}
    for k in range(0, K, 16):
        acc = dot({a}, {b}, acc, input_precision="ieee")
        {step}
    make_tensor_descriptor(c, (M, N), (N, 1), (64, 32)).store((m, n), acc.to(T))
"""
WAYS = {
    "pointers": dict(make="pa = make_block_ptr(a, (M, K), (K, 1), (m, 0), (64, 16), (1, 0))\n    pb = "
                          "make_block_ptr(b, (K, N), (N, 1), (0, n), (16, 32), (1, 0))",
                     a="load(pa, boundary_check=(0, 1))", b="load(pb, boundary_check=(0, 1))",
                     step="pa, pb = advance(pa, (0, 16)), advance(pb, (16, 0))"),
    "descriptors": dict(make="da, db = make_tensor_descriptor(a, (M, K), (K, 1), (64, 16)), make_tensor_descriptor(b, "
                             "(K, N), (N, 1), (16, 32))",
                        a="da.load((m, k))", b="db.load((k, n))", step="pass"),
}


@case(way=list(WAYS), dtype=["fp16", "fp32"], sizes=[(64, 32, 16), (100, 50, 37), (1, 1, 1), (65, 33, 0)])
def block_matmul(bench, way, dtype, sizes):
    m, n, k = sizes
    rng = np.random.default_rng(m)
    a, b = rng.integers(-8, 9, (m, k)), rng.integers(-8, 9, (k, n))
    cb, ab, bb = bench.buffer(dtype, m * n), bench.buffer(dtype, max(1, m * k), a.ravel() if k
                                                          else [0]), bench.buffer(dtype, max(1, k * n),
                                                                                  b.ravel() if k else [0])
    bench.run(MATMUL.format(**WAYS[way]), cb, ab, bb, m, n, k, types={"T": dtype})
    close(decode(cb.raw(), dtype).reshape(m, n), (a @ b).astype(float), U, 0, f"{way} {sizes}")


@case()
def blocks_can_fail(bench):
    """Cases with one mistake each."""
    for right, wrong in (("(row, col), (A, B)", "(row, col + 1), (A, B)"), ("(m, n)", "(m, n - 1)"),
                         ("boundary_check=(0, 1)", "boundary_check=(1, 0), padding_option='nan'")):
        text = LOADS.format(body=FORMS["pointer"])
        assert right in text, right
        must_fail(lambda: judge_load(bench, "pointer", "fp32", (3, 20), (16, 32), source=text.replace(right, wrong)),
                  wrong)
