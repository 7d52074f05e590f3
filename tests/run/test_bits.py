"""Integers as rows of bits, and products and sums that do not overflow: against Python's own ints."""
import numpy as np

from case import case, same_bits
from fsc import DTYPES
from test_math import TWO, apply


def reversed_bits(v, bits):
    return int(f"{v:0{bits}b}"[::-1], 2)


# expression: reference on unsigned ints of that many bits, as Python's ints
BITS = {
    "popc(x).to(T)": lambda v, bits: bin(v).count("1"),
    "clz(x).to(T)": lambda v, bits: bits - v.bit_length(),
    "ffs(x).to(T)": lambda v, bits: (v & -v).bit_length(),
    "brev(x)": reversed_bits,
}


def integers(dtype):
    rng = np.random.default_rng(8)
    kind = DTYPES[dtype][1]
    info = np.iinfo(kind)
    special = [0, 1, 2, 3, info.max, info.min, info.max - 1, info.max // 3, 6, 255, 256]
    powers = [1 << e for e in range(info.bits - 1)]
    return np.concatenate([np.array(special + powers, kind), rng.integers(info.min, info.max, 2000, dtype=kind)])


@case(expression=list(BITS), dtype=["i32", "u32", "i64", "u64"])
def bits_of_integers(bench, expression, dtype):
    x = integers(dtype)
    bits = x.dtype.itemsize * 8
    want = np.array([BITS[expression](int(v) % 2 ** bits, bits) for v in x], np.uint64)
    got = apply(bench, expression, dtype, x).raw()
    same_bits(got.view(f"u{bits // 8}"), want.astype(f"u{bits // 8}"), f"{expression} {dtype}")


def exact_pair(name, x, y, bits):
    """Of Python's ints, any width."""
    return {"mulhi": x * y >> bits, "hadd": (x + y) >> 1, "rhadd": (x + y + 1) >> 1, "sad": abs(x - y) + x}[name]


@case(expression=["mulhi(x, y)", "hadd(x, y)", "rhadd(x, y)", "sad(x, y, x)"], dtype=["i32", "u32", "i64", "u64"])
def pairs_of_integers(bench, expression, dtype):
    x = integers(dtype)
    y = np.random.default_rng(9).permutation(x)
    bits = x.dtype.itemsize * 8
    name = expression.split("(")[0]
    want = np.array([exact_pair(name, int(p), int(q), bits) % 2 ** bits for p, q in zip(x, y)], np.uint64)
    a, b, r = bench.buffer(dtype, len(x), x), bench.buffer(dtype, len(x), y), bench.buffer(dtype, len(x))
    bench.run(TWO.format(expression=expression), r, a, b, len(x), types={"T": dtype})
    same_bits(r.raw().view(f"u{bits // 8}"), want.astype(f"u{bits // 8}"), f"{expression} {dtype}")


@case()
def permuted_bytes(bench):
    x, y = integers("i32"), np.random.default_rng(9).permutation(integers("i32"))
    s = x ^ (y << 3)
    both = [(int(q) % 2 ** 32) << 32 | int(p) % 2 ** 32 for p, q in zip(x, y)]
    want = [sum((v >> 8 * (int(k) >> 4 * i & 7) & 255) << 8 * i for i in range(4)) for v, k in zip(both, s)]
    a, b, r = bench.buffer("i32", len(x), x), bench.buffer("i32", len(x), y), bench.buffer("i32", len(x))
    bench.run(TWO.format(expression="libdevice.byte_perm(x, y, x ^ (y << 3))"), r, a, b, len(x), types={"T": "i32"})
    same_bits(r.raw().view(np.uint32), np.array(want, np.uint32), "byte_perm")


@case(dtype=["i32", "u32", "i64", "u64"])
def multiply_high(bench, dtype):
    rng = np.random.default_rng(8)
    kind = DTYPES[dtype][1]
    info = np.iinfo(kind)
    x, y = (rng.integers(info.min, info.max, 3000, dtype=kind, endpoint=True) for _ in range(2))
    x[:6], y[:6] = [info.max, info.min, info.max, 0, 1, 2], [info.max, info.max, 2, 5, info.max, info.min]
    width = info.bits
    want = np.array([((int(p) % 2 ** width) * (int(q) % 2 ** width)) >> width for p, q in zip(x, y)], np.uint64)
    a, b, r = bench.buffer(dtype, len(x), x), bench.buffer(dtype, len(x), y), bench.buffer(dtype, len(x))
    bench.run(TWO.format(expression="umulhi(x, y)"), r, a, b, len(x), types={"T": dtype})
    same_bits(r.raw().view(f"u{width // 8}"), want.astype(f"u{width // 8}"), dtype)
