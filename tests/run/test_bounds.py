"""test_bounds.py - checked accesses of the CPU target, lane by lane: what is refused is left out, and nothing else is.

A refused load gives `other` (0 without one), a refused store writes nothing; lanes that are masked off are never asked
about. Every case counts its findings, as each refused lane is one.
"""
import re

import numpy as np

import fsc
from case import case, same_bits

DTYPES = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64"]


def findings(bench, source, *args, grid=None, **options):
    """[(line, count)] of a launch that must find only accesses out of bounds; [] where it finds nothing."""
    try:
        bench.run(source, *args, grid=grid, **options)
    except fsc.Error as e:
        assert e.status == "FSC_ERROR_CHECK", str(e)
        rows = re.findall(r"test\.dsl:(\d+):\d+: out-of-bounds: [^\n]*?(?: \((\d+) times\))?(?:\n|$)", str(e))
        assert len(rows) == str(e).count("test.dsl:"), str(e)
        return [(int(line), int(count or 1)) for line, count in rows]
    return []


def numbers(dtype, n):
    return np.arange(1, n + 1) % 100


@case(dtype=DTYPES, offset=[0, 1], only="cpu.check")
def lanes_of_a_vector(bench, dtype, offset):
    """64 lanes: n by the mask, of which 40 are in x and 30 in y."""
    source = f"""@kernel(grid=(1,))
def f(y: *{dtype}, x: *{dtype}, n: i32):
    i = arange(0, 64)
    v = load(x + i, mask=i < n, other=7)
    store(y + i, v, mask=(i < n - 5) & (i != 3))
"""
    x = bench.buffer(dtype, 40, numbers(dtype, 40), offset=offset)
    y = bench.buffer(dtype, 30, np.zeros(30), offset=offset)
    assert findings(bench, source, y, x, 50) == [(4, 10), (5, 15)]
    want = numbers(dtype, 30)
    want[3] = 0
    same_bits(y.raw(), fsc.encode(want, dtype), "what is inside")
    assert findings(bench, source, y, x, 35) == []  # masked-off lanes point beside both buffers


@case(dtype=["i8", "fp16", "i32", "fp64"], only="cpu.check")
def refused_loads(bench, dtype):
    """What refused lanes read: `other` where there is one, a tile of others too, else 0."""
    source = f"""@kernel(grid=(1,))
def f(y: *{dtype}, x: *{dtype}):
    i = arange(0, 64)
    store(y + i, load(x + i, mask=i < 60, other=7))
    store(y + 64 + i, load(x + i))
    store(y + 128 + i, load(x + i, mask=i < 60, other=load(y + i)))
"""
    x, y = bench.buffer(dtype, 40, numbers(dtype, 40)), bench.buffer(dtype, 192, np.zeros(192))
    assert findings(bench, source, y, x) == [(4, 20), (5, 24), (6, 20)]
    inside, seven = numbers(dtype, 40), np.full(24, 7)
    want = np.concatenate([inside, seven, inside, np.zeros(24), inside, seven])
    same_bits(y.raw(), fsc.encode(want, dtype), "loads")


@case(stride=[3, -3], only="cpu.check")
def gather_and_scatter(bench, stride):
    """Pointers that are no neighbours, upwards and downwards: 34 of 64 lie in x, 17 of 64 in y."""
    source = """@kernel(grid=(1,))
def f(y: *i32, x: *i32, at: i32, stride: i32):
    i = arange(0, 64)
    v = load(x + at + i * stride)
    store(y + at + i * stride * 2, v)
"""
    n = 100
    at = 0 if stride > 0 else n - 1
    x, y = bench.buffer("i32", n, np.arange(n) + 1), bench.buffer("i32", n, np.zeros(n))
    assert findings(bench, source, y, x, at, stride) == [(4, 30), (5, 47)]
    want = np.zeros(n, np.int32)
    want[at::2 * stride] = (np.arange(n) + 1)[at::stride][:17]
    same_bits(y.raw(), want, "scattered")


@case(dtype=["i8", "fp32", "i64"], only="cpu.check")
def scalars(bench, dtype):
    """One element: the program whose number is beyond the buffer is refused, and only it."""
    source = f"""@kernel(grid=(n,))
def f(y: *{dtype}, x: *{dtype}, n: i32, limit: i32):
    p = program_id(0)
    v = load(x + p, mask=p < limit, other=9)
    store(y + p, v, mask=p < limit + 1)
"""
    x, y = bench.buffer(dtype, 5, numbers(dtype, 5)), bench.buffer(dtype, 7, np.zeros(7))
    assert findings(bench, source, y, x, 20, 6) == [(4, 1)]
    same_bits(y.raw(), fsc.encode([1, 2, 3, 4, 5, 9, 9], dtype), "scalars")
    assert findings(bench, source, y, x, 20, 5) == []
    assert findings(bench, source, y, x, 20, 20) == [(4, 15), (5, 13)]


@case(only="cpu.check")
def rows_in_a_loop(bench):
    """A tile of two dimensions in a loop: the last of three steps is half outside."""
    source = """@kernel(grid=(1,))
def f(y: *fp32, x: *fp32, stride: i32):
    total = zeros((8, 16), fp32)
    for k in range(0, 3):
        r = k * 8 + arange(0, 8)
        total += load(x + r[:, None] * stride + arange(0, 16)[None, :])
    store(y + arange(0, 8)[:, None] * 16 + arange(0, 16)[None, :], total)
"""
    data = np.arange(20 * 20, dtype=np.float32)
    x, y = bench.buffer("fp32", 400, data), bench.buffer("fp32", 128, np.zeros(128))
    assert findings(bench, source, y, x, 20) == [(6, 4 * 16)]
    rows = np.concatenate([data.reshape(20, 20)[:, :16], np.zeros((4, 16), np.float32)])
    same_bits(y.raw(), (rows[:8] + rows[8:16] + rows[16:]).ravel(), "the sum")


@case(only="cpu.check")
def one_allocation(bench):
    """Two views of one buffer: what lies in either is inside, what lies between two buffers is not."""
    source = """@kernel(grid=(1,))
def f(a: *i32, b: *i32, n: i32):
    i = arange(0, 64)
    store(b + i, load(a + i, mask=i < n), mask=i < n)
"""
    x = bench.buffer("i32", 100, np.arange(100))
    half = (x.address + 4 * 50, "i32", 4 * 50)
    assert findings(bench, source, x, half, 50) == []
    assert findings(bench, source, x, half, 64) == [(4, 14)]
    assert findings(bench, source, half, x, 50) == []


@case(only="cpu.check")
def switched_on_and_off(bench):
    """One JIT handle: checked code for the checked device, other code for the unchecked one, and back."""
    source = """@kernel(grid=(1,))
def f(y: *i32, x: *i32):
    i = arange(0, 32)
    store(y + i, load(x + i))
"""
    x, y = bench.buffer("i32", 30, np.arange(30)), bench.buffer("i32", 32, np.zeros(32))
    jit = bench.jit(source)  # what it reads beside x is a guard band
    for on in (True, False, True, False):
        fsc.check(fsc.lib.fsc_device_check(bench.device.handle, on))
        y.write(np.zeros(32, np.int32))
        try:
            jit.launch(y, x)
            was_found = False
        except fsc.Error as e:
            assert e.status == "FSC_ERROR_CHECK", str(e)
            was_found = True
        finally:
            fsc.check(fsc.lib.fsc_device_check(bench.device.handle, True))
        assert was_found == on, on
        same_bits(y.raw()[:30], np.arange(30, dtype=np.int32), "inside")
        assert (y.raw()[30:] == (0 if on else 0xA5A5A5A5 - (1 << 32))).all(), y.raw()[30:]
