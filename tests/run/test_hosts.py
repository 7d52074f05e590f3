"""test_hosts.py - what LLVM's back ends for host processors have got wrong: a case each,
which every device must pass."""
import numpy as np

from case import case, same_bits
from fsc import decode

SELECTED = """
@kernel(grid=(1,))
def f(y: *u32, x: *fp32, z: *fp32, BLOCK: constexpr = {n}):
    i = arange(0, BLOCK)
    v = load(x + i)
    a = {value}
    bits = (a.to(u32, bitcast=True) & {mask}) | (v.to(u32, bitcast=True) & {rest})
    store(y + i, where(a == 0.0, bits, {other}.to(u32, bitcast=True)))
"""


@case(value=["load(z + i)", "load(z + i) * v", "load(z + i) - load(z + i)"], other=["a", "v"],
      mask=[0x7FFFFFFF, 0x80000000, 0x0000FFFF, 0xFFFF0000, 0x00FF00F0], n=[2, 16, 64])
def select_of_merged_bits(bench, value, other, mask, n):
    """Bits of two tiles merged by a mask, for some elements: AVX-512 has one instruction for all of it."""
    x, z = np.full(n, -0.0, np.float32), np.zeros(n, np.float32)
    x[::3], x[5 % n], z[::5] = 0.0, -3.0, 77.0
    xb, zb, yb = bench.buffer("fp32", n, x), bench.buffer("fp32", n, z), bench.buffer("u32", n)
    source = SELECTED.format(value=value, other=other, n=n, mask=mask, rest=mask ^ 0xFFFFFFFF)
    bench.run(source, yb, xb, zb, num_warps=1)
    a = {"load(z + i)": z, "load(z + i) * v": z * x, "load(z + i) - load(z + i)": z - z}[value]
    merged = (a.view(np.uint32) & np.uint32(mask)) | (x.view(np.uint32) & ~np.uint32(mask))
    rest = {"a": a, "v": x}[other].view(np.uint32)
    same_bits(yb.raw(), np.where(a == 0, merged, rest), f"{value} under {mask:#x}, else {other}")


NARROWED = """
@kernel(grid=(1,))
def f(y: *T, x: *{wide}, LANE: constexpr, BLOCK: constexpr, T: dtype):
    i = arange(0, BLOCK)
    v = load(x + i)
    store(y + i, (v + v).to(T), mask=i == LANE)
"""


@case(types=[("fp32", "bf16"), ("fp32", "fp16"), ("i32", "i16"), ("i32", "i8"), ("i64", "i32"), ("fp64", "fp32")],
      n=[2, 4, 8, 16], lane=[0, 1, 3])
def narrow_store_of_one_lane(bench, types, n, lane):
    """A masked store of one lane that is known: AVX-512 stores what it narrows by one instruction."""
    lane = min(lane, n - 1)
    wide, narrow = types
    x = np.arange(1, n + 1)
    xb, yb = bench.buffer(wide, n, x), bench.buffer(narrow, n)
    want = decode(yb.raw(), narrow).copy()
    bench.run(NARROWED.format(wide=wide), yb, xb, num_warps=1, defines={"LANE": lane, "BLOCK": n}, types={"T": narrow})
    want[lane] = 2 * x[lane]
    same_bits(decode(yb.raw(), narrow), want, f"{wide} as {narrow}, lane {lane} of {n}")


STREAMED = """
@kernel(grid=(cdiv(n, BLOCK),))
def f(y: *T, x: *T, n: i32, BLOCK: constexpr = 4096, T: dtype = fp32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(y + i, load(x + i, mask=i < n) + load(x + i, mask=i < n), mask=i < n)
"""


@case(dtype=["fp32", "fp16", "bf16", "fp64", "i8"], at=[0, 1], slow=True, only="cpu")
def past_the_caches(bench, dtype, at):
    """A grid that writes more than caches hold, to whole lines and beside them; the last vector is cut."""
    bits = {"fp32": np.uint32, "fp64": np.uint64, "i8": np.uint8}.get(dtype, np.uint16)
    n = (34 << 20) // bits(0).itemsize + 77
    x = np.resize(np.arange(-60, 60), n)
    xb, yb, wanted = (bench.buffer(dtype, n, data, offset=at) for data in (x, None, 2 * x))
    bench.run(STREAMED, yb, xb, n, types={"T": dtype})
    same_bits(yb.raw(), wanted.raw(), f"{dtype} from element {at}")


CONVERTED = """
@kernel(grid=(cdiv(n, BLOCK),))
def f(y: *R, x: *T, n: i32, BLOCK: constexpr = 1024, T: dtype = fp32, R: dtype = fp32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(y + i, load(x + i, mask=i < n).to(R), mask=i < n)
"""


@case(block=[16, 1024])
def bf16_of_every_upper_half(bench, block):
    """Halves to even, up into the next exponent and infinity; each NaN stays one. And all of bf16 in fp32."""
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    upper = np.arange(1 << 16, dtype=np.uint32)[:: 1 if block > 16 else 37]
    bits = (upper[:, None] << 16 | lower).reshape(-1)
    n, is_nan = len(bits), (bits & 0x7FFFFFFF) > 0x7F800000
    xb, yb, zb = bench.buffer("fp32", n), bench.buffer("bf16", n), bench.buffer("fp32", n)
    xb.write(bits)
    bench.run(CONVERTED, yb, xb, n, defines={"BLOCK": block}, types={"T": "fp32", "R": "bf16"})
    bench.run(CONVERTED, zb, yb, n, defines={"BLOCK": block}, types={"T": "bf16", "R": "fp32"})
    rounded = (bits.astype(np.uint64) + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)
    got = yb.raw()
    same_bits(got[~is_nan], rounded[~is_nan], "rounded")
    assert ((got[is_nan] & 0x7FFF) > 0x7F80).all(), "a NaN became a number"
    wide = zb.raw().view(np.uint32)
    same_bits(wide[~is_nan], rounded[~is_nan].astype(np.uint32) << 16, "widened")
    assert ((wide[is_nan] & 0x7FFFFFFF) > 0x7F800000).all(), "a NaN became a number on its way back"


LIMITED = """
@kernel(grid=(1,))
def f(y: *T, x: *T, n: i32, BLOCK: constexpr = 64, T: dtype = fp32):
    i = arange(0, BLOCK)
    v = load(x + i, mask=i < n)
    store(y + i, {expression}, mask=i < n)
"""


@case(dtype=["fp16", "bf16", "fp32", "fp64"], word=["minimum", "maximum"], turned=[False, True],
      limit=["2.0", "-1.5", "inf", "-inf", "0.0", "-0.0", "nan"])
def limits(bench, dtype, word, turned, limit):
    """The larger or smaller of a tile and a number that is known: NaN loses, signalling or not, and -0 is below 0."""
    width, (top, quiet) = {"fp16": (16, (0x7C00, 0x200)), "bf16": (16, (0x7F80, 0x40)),
                           "fp32": (32, (0x7F800000, 0x400000)), "fp64": (64, (0x7FF << 52, 1 << 51))}[dtype]
    sign, kind = 1 << width - 1, {16: np.uint16, 32: np.uint32, 64: np.uint64}[width]
    some = bench.buffer(dtype, 9, [0.0, -0.0, 1.0, -1.0, 2.0, -1.5, 3.0, np.inf, -np.inf]).raw().view(kind)
    bits = np.concatenate([some, np.array([top | 1, top | quiet, sign | top | 1, sign | top | quiet], kind)])
    n = len(bits)
    xb, yb = bench.buffer(dtype, n), bench.buffer(dtype, n)
    xb.write(bits)
    call = f"{word}({limit}, v)" if turned else f"{word}(v, {limit})"
    source = LIMITED.format(expression=f"({call}).to(T)")
    bench.run(source, yb, xb, n, num_warps=1, types={"T": dtype})
    with np.errstate(invalid="ignore"):
        x, c, got = decode(bits.view(xb.np_type), dtype).astype(np.float64), float(limit), yb.read()
    less = (x < c) | ((x == c) & np.signbit(x)) | np.isnan(c)
    pick = np.isnan(c) | (~np.isnan(x) & (less if word == "minimum" else ~less | (x == c) & ~np.signbit(x)))
    want = np.where(pick, x, c)
    same_bits(np.isnan(got), np.isnan(want), f"{call} of {dtype}: NaN")
    at = ~np.isnan(want)
    same_bits(got[at], want[at], f"{call} of {dtype}")
