"""test_mma.py - every matrix instruction of compiler/layout/mma.def: a product provably calls it and is right.

In: the rows. Method: a product's types and sizes are those of the row, so that the pass `matrix` chooses it; the number
of the instruction is looked for in the per-thread module. NumPy's int64 is the judge.
"""
import os
import re

import numpy as np

from case import EXAMPLES, case, same_bits
from primitives import fsc_threads, tests

ROWS = os.path.join(EXAMPLES, "..", "compiler", "layout", "mma.def")
ELEMENTS = {"F16": "fp16", "BF16": "bf16", "TF32": "fp32", "E4M3": "fp8e4nv", "E5M2": "fp8e5", "S8": "i8", "U8": "u8",
            "F64": "fp64", "F32": "fp32", "S32": "i32"}


def instructions():
    """name -> (number, types of a, b and c, m, n, k) of the rows of mma.def."""
    with open(ROWS, encoding="utf-8") as f:
        found = re.findall(r'^MMA\(\w+,\s*"([^"]+)",' + r"\s*(\w+)," * 6, f.read(), re.M)
    assert len(found) >= 17, "mma.def has no rows in the form that is read here"
    return {row[0]: (i, [ELEMENTS[t] for t in row[1:4]], *map(int, row[4:])) for i, row in enumerate(found)}


INSTRUCTIONS = instructions()
NARROW = [n for n in INSTRUCTIONS if n == "m16n8k8.f16" or n.startswith("m8n8k16.")]  # of more k others are chosen
PRODUCT = """
@kernel(grid=(2,))
def f(r: *R, x: *A, y: *B, c: *R, M: constexpr = 16, N: constexpr = 8, K: constexpr = 16,
      A: dtype = fp16, B: dtype = fp16, R: dtype = fp32):
    p = program_id(0)
    i, j = arange(0, M)[:, None], arange(0, N)[None, :]
    a = load(x + p * M * K + i * K + arange(0, K)[None, :])
    b = load(y + p * K * N + arange(0, K)[:, None] * N + j)
    store(r + p * M * N + i * N + j, dot(a, b, load(c + p * M * N + i * N + j)))
"""


@tests("mma")(instruction=list(INSTRUCTIONS), warps=[1, 4], tiles=[(1, 1, 1), (4, 2, 1), (1, 8, 4)])
def matrix_instruction(bench, instruction, warps, tiles):
    """One fragment and several, along each dimension; integers so small that every sum is exact."""
    number, types, *size = INSTRUCTIONS[instruction]
    m, n, k = (x * y for x, y in zip(size, tiles))
    k = size[2] if instruction in NARROW else k
    rng = np.random.default_rng(m + n + k)
    x, y = (rng.integers(*{"u8": (0, 200), "i8": (-100, 100), "fp8e5": (-4, 5)}.get(t, (-8, 9)), s)
            for t, s in zip(types, ((2, m, k), (2, k, n))))
    c = rng.integers(-1000, 1000, (2, m, n))
    xb, yb, cb = (bench.buffer(t, v.size, v.ravel()) for t, v in zip(types, (x, y, c)))
    args, defines, named = (bench.buffer(types[2], c.size), xb, yb, cb), dict(M=m, N=n, K=k), dict(zip("ABR", types))
    for arch in ("sm_90", "emu"):
        text = fsc_threads(PRODUCT, arch, {}, defines=defines, types=named, num_warps=warps)
        called = set(re.findall(r"@fsc\.mma\.[^\n]*, i32 (\d+), i32 \d+\)", text))
        assert called == {str(number)}, f"{arch}: calls instructions {called} of mma.def, not {number}"
    bench.run(PRODUCT, *args, defines=defines, types=named, num_warps=warps)
    same_bits(args[0].read().astype(np.int64), (x @ y + c).ravel(), f"{instruction} {m}x{n}x{k}")


# Each operand as it lies in memory and is loaded, and as dot takes it.
LOADS = {"rows": ("{p} + {i}[:, None] * {columns} + {j}[None, :]", ""),
         "columns": ("{p} + {j}[None, :] * {rows} + {i}[:, None]", ""),
         "transposed": ("{p} + {j}[:, None] * {rows} + {i}[None, :]", ".T")}
LOOP = """
@kernel(grid=(1,))
def f(r: *R, x: *A, y: *B, M: constexpr = 16, N: constexpr = 8, K: constexpr = 16, BK: constexpr = 16,
      A: dtype = fp16, B: dtype = fp16, R: dtype = fp32):
    i, j = arange(0, M), arange(0, N)
    sum = zeros((M, N), R)
    for at in range(0, K, BK):
        k = at + arange(0, BK)
        a = load({a})
        b = load({b})
        sum = dot(a{at}, b{bt}, sum)
    store(r + i[:, None] * N + j[None, :], sum)
"""


@case(instruction=list(INSTRUCTIONS), a=list(LOADS), b=list(LOADS), tiles=[(2, 2, 2), (4, 16, 4)])
def matrix_operands(bench, instruction, a, b, tiles):
    """Rows and columns of either operand side by side in memory; several steps of k in a round of a loop."""
    _, types, *size = INSTRUCTIONS[instruction]
    m, n, k = (x * y for x, y in zip(size, tiles))
    k = size[2] if instruction in NARROW else k
    (pa, at), (pb, bt) = LOADS[a], LOADS[b]
    source = LOOP.format(a=pa.format(p="x", i="i", j="k", rows="M", columns="K"), at=at,
                         b=pb.format(p="y", i="k", j="j", rows="K", columns="N"), bt=bt)
    rng = np.random.default_rng(m + n + k)
    x, y = (rng.integers(*{"u8": (0, 200), "i8": (-100, 100), "fp8e5": (-4, 5)}.get(t, (-8, 9)), s)
            for t, s in zip(types, ((m, 2 * k), (2 * k, n))))
    xb, yb = (bench.buffer(t, v.size, (v if how == "rows" else v.T).ravel())
              for t, v, how in zip(types, (x, y), (a, b)))
    rb = bench.buffer(types[2], m * n)
    bench.run(source, rb, xb, yb, defines=dict(M=m, N=n, K=2 * k, BK=k), types=dict(zip("ABR", types)))
    same_bits(rb.read().astype(np.int64), (x @ y).ravel(), f"{instruction} {a} by {b}, {m}x{n}x{k}")
