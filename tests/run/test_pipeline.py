"""test_pipeline.py - loops with num_stages: loads issued rounds ahead, through shared memory or registers, change no
result. Each case is run as it is and once without the pass, whose bits must be the same, and judged by NumPy. On emu a
copy read before its wait is a finding.
"""
import numpy as np

from case import case, close, example, same_bits

UNPIPELINED = "-pipeline"


def both(bench, source, make, outputs, grid=None, **options):
    """What the outputs hold behind the kernel; make() gives fresh arguments,
    `outputs` says which of them are results."""
    results = []
    for passes in (None, UNPIPELINED):
        args = make()
        bench.run(source, *args, grid=grid, **({"passes": passes} if passes else {}), **options)
        results.append([args[i].raw().copy() for i in outputs])
    for a, b in zip(*results):
        same_bits(a, b, "as without the pass")
    return results[0]


ROWS = """
@kernel(grid=(PROGRAMS,))
def f(y: *T, x: *T, rows: i32, n: i32, K: constexpr, BLOCK: constexpr, PROGRAMS: constexpr, T: dtype = fp32):
    c = arange(0, BLOCK)
    mask = c < n
    for row in range(program_id(0), rows, PROGRAMS, num_stages=K):
        v = load(x + row * n + c, mask=mask, other=-100)
        store(y + row * n + c, v - max(v, axis=0), mask=mask)
"""


@case(dtype=["fp32", "fp16", "i32", "i8", "fp64"], n=[1, 33, 128, 781, 1000], stages=[2, 3, 5], same=[False, True])
def pipeline_rows(bench, dtype, n, stages, same):
    """Persistent programs; rows that begin anywhere; in place, where the rounds must stay as they are."""
    rows, programs = 2 * stages + 3, 3
    x = np.random.default_rng(n).integers(-50, 50, (rows, n))

    def make():
        xb = bench.buffer(dtype, rows * n, x.ravel())
        return [xb if same else bench.buffer(dtype, rows * n), xb, rows, n]

    block = max(16, 1 << (n - 1).bit_length())
    defines = {"K": stages, "BLOCK": block, "PROGRAMS": programs}
    y, = both(bench, ROWS, make, [0], defines=defines, types={"T": dtype}, num_warps=1 if n < 128 else 4)
    same_bits(y, (x - x.max(axis=1, keepdims=True)).ravel().astype(y.dtype), "rows")


@case(warps=[1, 4], trips=[0, 1, 2, 3, 4, 9], stages=[2, 4])
def pipeline_short(bench, warps, trips, stages):
    """Fewer rounds than stages, none at all; whole vectors of 16 bytes."""
    x = np.random.default_rng(trips).integers(-50, 50, (trips + 1, 1024))
    defines = {"K": stages, "BLOCK": 1024, "PROGRAMS": 1}

    def make():
        return [bench.buffer("fp16", x.size + 1024, np.zeros(x.size + 1024)), bench.buffer("fp16", x.size, x.ravel()),
                trips, 1024]

    y, = both(bench, ROWS, make, [0], defines=defines, types={"T": "fp16"}, num_warps=warps)
    want = np.zeros((trips + 2, 1024))
    want[:trips] = (x - x.max(axis=1, keepdims=True))[:trips]
    same_bits(y, want.ravel().astype(y.dtype), "rows")


@case(begin=[0, 5], end=[0, -40, 41], step=[1, 7, -6], stages=[4], warps=[1, 4])
def pipeline_steps(bench, begin, end, step, stages, warps):
    """Run-time bounds and steps, up and down, and a load of one element."""
    source = """
@kernel(grid=(1,))
def f(y: *i32, x: *i32, s: *i32, begin: i32, end: i32, step: i32, K: constexpr):
    c = arange(0, 256)
    total = c * 0
    for i in range(begin, end, step, num_stages=K):
        total = total * 3 + load(x + (i + 50) * 256 + c) + load(s + i + 50)
    store(y + c, total)
"""
    x, s = np.random.default_rng(1).integers(-9, 9, (100, 256)), np.arange(100) * 7

    def make():
        return [bench.buffer("i32", 256), bench.buffer("i32", x.size, x.ravel()), bench.buffer("i32", 100, s), begin,
                end, step]

    y, = both(bench, source, make, [0], defines={"K": stages}, num_warps=warps)
    total = np.zeros(256, np.int64)
    for i in range(begin, end, step):
        total = (total * 3 + x[i + 50] + s[i + 50]).astype(np.int32).astype(np.int64)
    same_bits(y, total.astype(np.int32), "a sum")


@case(dtype=["fp32", "fp16", "i8"], n=[3, 700, 1024, 1801], stages=[2, 3], form=["start", "pointer", "holes", "other"])
def pipeline_columns(bench, dtype, n, stages, form):
    """A row in chunks, the last one cut: by its start, by a pointer that the loop carries, with a mask of holes, with
    another `other` in each round."""
    address = "p" if form == "pointer" else "x + program_id(0) * n + k + c"
    mask = "(k + c < n) & (c % 3 != 1)" if form == "holes" else "k + c < n"
    source = f"""
@kernel(grid=(3,))
def f(y: *i32, x: *T, n: i32, K: constexpr, T: dtype = fp32):
    c = arange(0, 256)
    total = c * 0
    p = x + program_id(0) * n + c
    for k in range(0, n, 256, num_stages=K):
        v = load({address}, mask={mask}{', other=k // 256 + 1' if form == 'other' else ''})
        total = total * 5 + v.to(i32)
        p += 256
    store(y + program_id(0) * 256 + c, total)
"""
    x = np.random.default_rng(n).integers(-50, 50, (3, n))

    def make():
        return [bench.buffer("i32", 3 * 256), bench.buffer(dtype, 3 * n, x.ravel()), n]

    y, = both(bench, source, make, [0], defines={"K": stages}, types={"T": dtype}, num_warps=2)
    want = np.zeros((3, 256), np.int64)
    for k in range(0, n, 256):
        at = k + np.arange(256)
        on = (at < n) & ((np.arange(256) % 3 != 1) | (form != "holes"))
        v = np.where(on, x[:, np.minimum(at, n - 1)], k // 256 + 1 if form == "other" else 0)
        want = want * 5 + v
    same_bits(y, want.ravel().astype(np.int32), form)


@case(form=["two", "one", "nested", "atomic", "relaxed"], same=[False, True], warps=[1, 4], stages=[2, 4])
def pipeline_alias(bench, form, same, warps, stages):
    """Each round reads what the round before wrote, where the two pointers are one: through a second parameter, the
    same one, in an inner loop, by atomics."""
    store = {"two": "store(y + (i + 1) * 256 + c, v + 1)", "one": "store(x + (i + 1) * 256 + c, v + 1)\n        "
                                                                  "store(y + c, v)",
             "nested": "for j in range(0, 2):\n            if j == 1:\n                store(y + (i + j) * 256 + c, v "
                       "+ 1)",
             "atomic": "atomic_add(y + (i + 1) * 256 + c, v + 1)", "relaxed": "atomic_add(y + (i + 1) * 256 + c, v + "
                                                                              "1, sem='relaxed')"}[form]
    source = f"""
@kernel(grid=(1,))
def f(y: *i32, x: *i32, rounds: i32, K: constexpr):
    c = arange(0, 256)
    for i in range(0, rounds, num_stages=K):
        v = load(x + i * 256 + c)
        {store}
"""
    x = np.random.default_rng(3).integers(-9, 9, (8, 256))

    def make():
        xb = bench.buffer("i32", x.size, x.ravel())
        return [xb if same else bench.buffer("i32", x.size, np.zeros(x.size)), xb, 7]

    y, a = both(bench, source, make, [0, 1], defines={"K": stages}, num_warps=warps)
    want = {True: x.copy(), False: np.zeros_like(x)}
    wy, wx = want[same], want[True] if same else x.copy()
    wx = wy if same else wx
    for i in range(7):
        v = wx[i].copy()
        if form == "one":
            wx[i + 1] = v + 1
            wy[0] = v
        elif form in ("atomic", "relaxed"):
            wy[i + 1] += v + 1
        else:
            wy[i + 1] = v + 1
    same_bits(a, wx.ravel().astype(np.int32), "what was read")
    same_bits(y, wy.ravel().astype(np.int32), "what was written")


@case(k=[1, 16, 50], stages=[2, 3, 4], dtype=["fp32", "fp16"])
def pipeline_product(bench, k, stages, dtype):
    """Two tiles a round, of two axes, as a product of matrices loads them; elements in the order of the sum."""
    source = """
@kernel(grid=(2, 2))
def f(z: *fp32, a: *T, b: *T, k: i32, S: constexpr, T: dtype = fp32):
    m, n, i = program_id(0) * 16 + arange(0, 16), program_id(1) * 32 + arange(0, 32), arange(0, 4)
    sum = zeros((16, 32), fp32)
    for j in range(0, k, 4, num_stages=S):
        u = load(a + m[:, None] * k + (j + i)[None, :], mask=(j + i)[None, :] < k, other=0).to(fp32)
        v = load(b + (j + i)[:, None] * 64 + n[None, :], mask=(j + i)[:, None] < k, other=0).to(fp32)
        sum += sum_of(u[:, :, None] * v[None, :, :])
    store(z + m[:, None] * 64 + n[None, :], sum)

@jit
def sum_of(x):
    return sum(x, axis=1)
"""
    g = np.random.default_rng(k)
    a, b = g.integers(-5, 5, (32, k)), g.integers(-5, 5, (k, 64))

    def make():
        return [bench.buffer("fp32", 32 * 64), bench.buffer(dtype, a.size, a.ravel()),
                bench.buffer(dtype, b.size, b.ravel()), k]

    z, = both(bench, source, make, [0], defines={"S": stages}, types={"T": dtype}, num_warps=4)
    same_bits(z, (a @ b).ravel().astype(np.float32), "a product")


@case(outer=[1, 2, 4], inner=[1, 3], warps=[1, 4])
def pipeline_nested(bench, outer, inner, warps):
    """Loops in loops and behind loops, with vectors of several sizes; rings that take each other's bytes."""
    source = """
@kernel(grid=(2,))
def f(y: *i32, x: *i32, h: *i16, b: *i8, rounds: i32, A: constexpr, B: constexpr):
    c = arange(0, 1024)
    total = c * 0
    for i in range(program_id(0), rounds, 2, num_stages=A):
        u = load(x + i * 1024 + c)
        for j in range(0, rounds, num_stages=B):
            total = total * 3 + load(x + j * 1024 + c) + load(h + j * 1024 + c).to(i32) * u
        total += load(b + i * 1024 + c).to(i32)
    for j in range(rounds - 1, -1, -1, num_stages=B):
        total = total * 7 + load(b + j * 1024 + c).to(i32)
    for j in range(0, rounds, num_stages=A):
        if j > 2:
            total = total * 7 + load(x + j * 1024 + c)
    store(y + program_id(0) * 1024 + c, total)
"""
    g, rounds = np.random.default_rng(outer), 5
    x, h, b = (g.integers(-20, 20, (rounds, 1024)) for _ in range(3))

    def make():
        arrays = [bench.buffer(t, v.size, v.ravel()) for t, v in (("i32", x), ("i16", h), ("i8", b))]
        return [bench.buffer("i32", 2048), *arrays, rounds]

    y, = both(bench, source, make, [0], defines={"A": outer, "B": inner}, num_warps=warps)
    want = np.zeros((2, 1024), np.int64)
    for p in range(2):
        t = np.zeros(1024, np.int64)
        for i in range(p, rounds, 2):
            for j in range(rounds):
                t = (t * 3 + x[j] + h[j] * x[i]).astype(np.int32).astype(np.int64)
            t = t + b[i]
        for j in range(rounds - 1, -1, -1):
            t = (t * 7 + b[j]).astype(np.int32).astype(np.int64)
        for j in range(3, rounds):
            t = (t * 7 + x[j]).astype(np.int32).astype(np.int64)
        want[p] = t
    same_bits(y, want.ravel().astype(np.int32), "nested")


@case(stop=[0, 3, 99])
def pipeline_break(bench, stop):
    """A loop that ends early loads nothing of the rounds behind its end:
    the buffer is no longer than what it may read."""
    source = """
@kernel(grid=(1,))
def f(y: *i32, x: *i32, end: *i32):
    c = arange(0, 256)
    total = c * 0
    for i in range(0, 100, num_stages=4):
        if i > load(end):
            break
        total = total * 3 + load(x + i * 256 + c)
    store(y + c, total)
"""
    rounds = stop + 1
    x = np.random.default_rng(stop).integers(-9, 9, (rounds, 256))

    def make():
        return [bench.buffer("i32", 256), bench.buffer("i32", x.size, x.ravel()), bench.buffer("i32", 1, [stop])]

    y, = both(bench, source, make, [0], num_warps=4)
    total = np.zeros(256, np.int64)
    for i in range(rounds):
        total = (total * 3 + x[i]).astype(np.int32).astype(np.int64)
    same_bits(y, total.astype(np.int32), "a sum")


@case(name=["softmax_persistent.dsl", "softmax_tiled.dsl"], stages=[1, 2, 4], dtype=["fp32", "fp16"],
      shape=[(7, 781), (5, 1024), (3, 4097), (2, 250)])
def pipeline_examples(bench, name, stages, dtype, shape):
    """The examples whose loops take stages: the very bits of the kernel without the pass, and rows whose sums are 1.
    (Where a variant knows vectors beyond its rows and a loop carries the row in registers, a thread's terms are added
    in another order: no such length is here.)"""
    rows, n = shape
    x = np.random.default_rng(n).standard_normal(shape) * 4
    x[0, ::3] = -np.inf

    def make():
        return [bench.buffer(dtype, rows * n), bench.buffer(dtype, rows * n, x.ravel()), n, n, rows, n]

    y, = both(bench, example(name), make, [0], defines={"STAGES": stages})
    sums = y.reshape(shape).astype(np.float64).sum(axis=1)
    close(sums, np.ones(rows), 1e-5 if dtype == "fp32" else 4e-3, what="sums of rows")
