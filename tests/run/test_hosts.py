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
