"""test_checks.py - what checked launches find in kernels of the language: the kind, the line and the place of each
mistake, that an access beside a buffer is reported and not performed, and that right kernels which look suspicious
pass.

Each wrong kernel carries the mark "# here" on the line that the finding must name.
"""
import re

import numpy as np

import fsc
from case import case, same_bits


def line_of_mark(source, mark="# here"):
    return next(i for i, line in enumerate(source.split("\n"), 1) if mark in line)


def found(bench, source, kind, words, *args, grid=None, mark="# here", **options):
    """The launch fails with findings, and one of them has this kind, this line and these words."""
    try:
        bench.run(source, *args, grid=grid, **options)
    except fsc.Error as e:
        assert e.status == "FSC_ERROR_CHECK", str(e)
        place = "" if mark is None else rf"test\.dsl:{line_of_mark(source, mark)}:\d+: "
        pattern = rf"{place}{kind}: .*{words}"
        assert re.search(pattern, str(e)), f"no {pattern!r} in: {e}"
        return str(e)
    raise AssertionError(f"nothing was found; wanted {kind}")


BEYOND = """
@kernel(grid=(4,))
def f(y: *fp32, x: *fp32, n: i32):
    i = program_id(0) * 64 + arange(0, 64)
    v = load(x + i, mask=i < n)
    store(y + i, v + 1)  # here
"""


@case(offset=[0, 3], warps=[1, 4], only=("cpu.check", "emu"))
def store_beyond(bench, offset, warps):
    x = bench.buffer("fp32", 200, np.arange(200), offset=offset)
    y = bench.buffer("fp32", 200, np.zeros(200), offset=offset)
    text = found(bench, BEYOND, "out-of-bounds", r"program \(3, 0, 0\).*y", y, x, 200, num_warps=warps)
    assert "x" not in re.findall(r"beyond the end of (\w+)", text), text
    got = y.read()
    same_bits(got[:192], np.arange(1.0, 193), "elements before the last program's")  # guards are checked by the bench


@case(only=("cpu.check", "emu"))
def load_before(bench):
    source = """
@kernel(grid=(2,))
def f(y: *i32, x: *i32):
    i = arange(0, 32)
    v = load(x + i - 1)  # here
    store(y + program_id(0) * 32 + i, v)
"""
    x, y = bench.buffer("i32", 32, np.arange(32)), bench.buffer("i32", 64)
    found(bench, source, "out-of-bounds", "before the beginning of x", y, x)


@case(only=("cpu.check", "emu"))
def masked_beyond(bench):
    """Lanes that are masked off touch nothing, wherever they point."""
    source = """
@kernel(grid=(1,))
def f(y: *i32, x: *i32, n: i32):
    i = arange(0, 64)
    v = load(x + i * 1000000000, mask=i < 1, other=7)
    store(y + i * 3, v, mask=i < n)
"""
    x, y = bench.buffer("i32", 1, [5]), bench.buffer("i32", 30, np.zeros(30))
    bench.run(source, y, x, 10)
    want = np.zeros(30, np.int32)
    want[::3] = [5] + [7] * 9
    same_bits(y.raw(), want, "masked")


@case(warps=[1, 2, 8], only="emu")
def programs_store_one_place(bench, warps):
    source = """
@kernel(grid=(3,))
def f(y: *i32):
    store(y + 5, program_id(0))  # here
"""
    found(bench, source, "race", r"y\[5\]", bench.buffer("i32", 8), num_warps=warps)


@case(warps=[1, 4], same=[2, 4, 64], by=["thread", "lane"], only="emu")
def elements_collide(bench, warps, same, by):
    """Elements of one store with one address and different values, of one thread and of several;
    on the CPU another one stays."""
    source = """
@kernel(grid=(2,))
def f(y: *i32, base: i32, B: constexpr, N: constexpr):
    i = arange(0, B)
    store(y + base + i, i)
    store(y + program_id(0) * B + i % N, i)  # here
"""
    count = {"lane": 64, "thread": 1024}[by]
    found(bench, source, "collision", r"writes y\[\d+\], to which thread \d+ writes another value in the same store",
          bench.buffer("i32", 4 * count), 2 * count, defines={"B": count, "N": count // same}, num_warps=warps,
          grid=(2,))


@case(warps=[1, 4], only="emu")
def elements_agree(bench, warps):
    """Equal values at one address, one element an address in each round, call and copy of a store,
    and what the mask chooses: no finding."""
    source = """
@jit
def put(p, v):
    store(p, v)

@kernel(grid=(2,))
def f(y: *i32, z: *i32, n: i32):
    i = arange(0, 256)
    base = program_id(0) * 256
    store(y + base + i // 4, i // 4)
    store(y + base + i % 2, 7)
    store(y + base + i // 4, i, mask=i % 4 == 3)
    for r in range(0, n):
        put(y + base + i, i + r)
        for k in static_range(3):
            put(y + base + i, i * k)
            put(y + base, r + k)
    store(y + base, sum(i, axis=0))
    store(z + base + arange(0, 16)[:, None] * 0 + arange(0, 16)[None, :], max(i, axis=0))
"""
    y, z = bench.buffer("i32", 512), bench.buffer("i32", 512)
    bench.run(source, y, z, 3, num_warps=warps)
    want = np.tile(np.arange(256, dtype=np.int32) * 2, 2)
    want[::256] = 255 * 128
    same_bits(y.raw(), want, "the last of each")


@case(only="emu")
def program_reads_neighbour(bench):
    source = """
@kernel(grid=(4,))
def f(y: *i32, n: i32):
    p = program_id(0)
    i = arange(0, 32)
    v = load(y + ((p + 1) % n) * 32 + i)
    store(y + p * 32 + i, v)
"""
    found(bench, source, "race", r"y\[", bench.buffer("i32", 128, np.arange(128)), 4, mark=None)


@case(only="emu")
def unwritten_output(bench):
    source = """
@kernel(grid=(n_rows,))
def f(y: *i32[n_rows:stride, n_cols], stride: i32, n_rows: i32, n_cols: i32):
    i = arange(0, 64)
    store(y + program_id(0) * stride + i, i, mask=i < n_cols - 1)  # here
"""
    y = bench.buffer("i32", 3 * 50)
    found(bench, source, "unwritten", r"no program wrote 3 of the 120 elements of y, the first y\[0, 39\]", y, 50, 3,
          40)


@case(only="emu")
def in_place(bench):
    """Each program reads and writes its own row of one buffer: right, with shuffles and barriers in between."""
    source = """
@kernel(grid=(5,))
def f(y: *fp32, x: *fp32):
    i = program_id(0) * 256 + arange(0, 256)
    v = load(x + i)
    store(y + i, v - max(v, axis=0))
"""
    x = np.float32(np.random.default_rng(1).standard_normal(5 * 256))
    b = bench.buffer("fp32", 5 * 256, x)
    bench.run(source, b, b, num_warps=4)
    rows = x.reshape(5, 256)
    same_bits(b.raw(), (rows - rows.max(axis=1, keepdims=True)).ravel(), "in place")


@case(only="emu")
def wait_for_later_program(bench):
    """A volatile load lets programs wait for later ones, and orders what the flag guards."""
    source = """
@kernel(grid=(n,))
def f(flag: *i32, data: *i32, n: i32):
    p = program_id(0)
    if p + 1 < n:
        seen = load(flag + p + 1, volatile=True)
        while seen == 0:
            seen = load(flag + p + 1, volatile=True)
        v = load(data + p + 1)
    else:
        v = 0
    store(data + p, v + p)
    store(flag + p, 1)
"""
    n = 40
    flag, data = bench.buffer("i32", n, np.zeros(n)), bench.buffer("i32", n, np.zeros(n))
    bench.run(source, flag, data, n, num_warps=1)
    same_bits(data.raw(), np.cumsum(np.arange(n)[::-1])[::-1].astype(np.int32), "sums from the end")
