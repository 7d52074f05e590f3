"""test_debug.py - device_print, print, device_assert and assert with device_debug: every line of every program and
element, in order on cpu and emu; the first failing assertion, its place and the status. Without the option nothing is
seen.
"""
import os
import re
import subprocess
import sys

import numpy as np

import fsc
from case import Output, case, same_bits
from fsc import DTYPES, decode, encode

SHOW = """
@kernel(grid=(2, 2))
def f(x: *T, n: i32, A: constexpr, B: constexpr, HEX: constexpr, T: dtype):
    p, q = program_id(0), program_id(1)
    i = arange(0, A)[:, None] * B + arange(0, B)[None, :]
    v = load(x + (q * 2 + p) * A * B + i)
    device_print("v", v, hex=HEX)
    if p == 1:
        print("of p 1:", i, n, p)
    for k in range(q):
        device_print("100% there")
"""

DIGITS = {"fp8e4nv": 3, "fp8e5": 3, "bf16": 4, "fp16": 5, "fp32": 9, "fp64": 17}


def same_lines(bench, got, want):
    """In order; on a GPU threads print as they come."""
    if bench.device.name == "cuda":
        got, want = sorted(got), sorted(want)
    for i, (g, w) in enumerate(zip(got, want)):
        assert g == w, f"line {i}: {g!r}, not {w!r}"
    assert len(got) == len(want), (f"{len(got)} lines, not {len(want)}; the first beyond: "
                                   f"{(got + want)[min(len(got), len(want))]!r}")


def shown(x, bits, dtype, use_hex):
    if use_hex:
        return f"0x{int(bits):0{2 * bits.itemsize}x}"
    if dtype not in DIGITS:
        return str(int(x))
    text = f"{float(x):.{DIGITS[dtype]}g}"
    return text


def index(shape, at):
    return "(" + ", ".join(f"{k:{len(str(n - 1))}}" for k, n in zip(at, shape)) + ")"


def expected(x, bits, dtype, shape, n, use_hex):
    lines = []
    for number in range(4):
        p, q = number % 2, number // 2
        pid = f"pid ({p}, {q}, 0) idx "
        places = list(np.ndindex(*shape))
        at = number * len(places)
        lines += [f"{pid}{index(shape, k)} v: {shown(x[at + i], bits[at + i], dtype, use_hex)}"
                  for i, k in enumerate(places)]
        if p == 1:
            lines += [f"{pid}{index(shape, k)} of p 1: (operand 0) {i}" for i, k in enumerate(places)]
            lines += [f"{pid}() of p 1: (operand 1) {n}", f"{pid}() of p 1: (operand 2) {p}"]
        lines += [f"{pid}() 100% there"] * q
    return lines


def prints(bench, dtype, shape, use_hex=False, warps=0):
    a, b = shape
    rng = np.random.default_rng(a * b)
    if dtype in DIGITS:
        image = encode(rng.standard_normal(4 * a * b) * 100, dtype)
    elif dtype == "i1":
        image = rng.integers(0, 2, 4 * a * b).astype(np.uint8)
    else:
        info = np.iinfo(DTYPES[dtype][1])
        image = rng.integers(info.min, info.max, 4 * a * b, DTYPES[dtype][1], endpoint=True)
    xb = bench.buffer(dtype, image.size)
    xb.write(image)
    bits = image.view(f"u{image.itemsize}")
    defines = {"A": a, "B": b, "HEX": use_hex}
    with Output() as out:
        bench.run(SHOW, xb, -7, defines=defines, types={"T": dtype}, device_debug=True, num_warps=warps)
    same_lines(bench, out.lines, expected(decode(image, dtype), bits, dtype, shape, -7, use_hex))
    with Output() as out:
        bench.run(SHOW, xb, -7, defines=defines, types={"T": dtype}, num_warps=warps)
    assert not out.lines, out.lines[0]


@case(dtype=["i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp8e4nv", "fp8e5", "fp16", "bf16", "fp32",
             "fp64"], use_hex=[False, True])
def prints_types(bench, dtype, use_hex):
    prints(bench, dtype, (2, 8), use_hex)


@case(shape=[(1, 1), (1, 4), (16, 2), (4, 64), (128, 16)], warps=[1, 4, 8])
def prints_shapes(bench, shape, warps):
    prints(bench, "i32", shape, warps=warps)


@case(shape=[(2, 1, 4, 2, 2, 2), (2, 2, 1, 2, 2, 4, 2)])
def prints_many_dimensions(bench, shape):
    source = f"""
@kernel(grid=(1,))
def f(x: *i32, N: constexpr):
    print("v:", reshape(load(x + arange(0, N)), {shape}))
"""
    n = int(np.prod(shape))
    with Output() as out:
        bench.run(source, bench.buffer("i32", n, np.arange(n) * 3), defines={"N": n}, device_debug=True)
    same_lines(bench, out.lines, [f"pid (0, 0, 0) idx {index(shape, k)} v: {3 * i}"
                                  for i, k in enumerate(np.ndindex(*shape))])


@case(warps=[1, 4])
def prints_special(bench, warps):
    """A pointer's address, infinities and NaN, a number known at compile time, an empty prefix."""
    source = """
@kernel(grid=(1,))
def f(x: *fp32):
    print("at", x)
    print(load(x + arange(0, 4)))
    print("known", 5, 2.5, True)
"""
    x = bench.buffer("fp32", 4, [np.inf, -np.inf, np.nan, -0.0])
    with Output() as out:
        bench.run(source, x, device_debug=True, num_warps=warps)
    pid = "pid (0, 0, 0) idx "
    lines = [re.sub(r"-?nan", "nan", line) for line in out.lines]
    same_lines(bench, lines, [f"{pid}() at: 0x{x.address:016x}"] +
               [f"{pid}({i}) {t}" for i, t in enumerate(["inf", "-inf", "nan", "-0"])]
               + [f"{pid}() known: (operand {i}) {t}" for i, t in enumerate(["5", "2.5", "1"])])


ASSERT = """
@kernel(grid=(8,))
def f(y: *i32, x: *i32, bad: i32, N: constexpr, MASKED: constexpr):
    p = program_id(0)
    i = arange(0, N)
    v = load(x + p * N + i)
    if MASKED:
        device_assert(v != bad, "100% of v", mask=i < N // 2)
    else:
        device_assert(v != bad, "100% of v")
    assert p * N < bad or bad < 0, f"in time"
    store(y + p * N + i, v)
"""


def fails(bench, line, words, n, warps, bad, masked=False, **options):
    total = 8 * n
    x, y = bench.buffer("i32", total, np.arange(total)), bench.buffer("i32", total)
    args = dict(defines={"N": n, "MASKED": masked}, num_warps=warps)
    try:
        bench.run(ASSERT, y, x, bad, device_debug=True, **args, **options)
    except fsc.Error as e:
        assert e.status == "FSC_ERROR_ASSERT", str(e)
        number = next(i for i, text in enumerate(ASSERT.split("\n"), 1) if line in text)
        pattern = rf"test\.dsl:{number}:\d+: assertion: {words}"
        assert re.search(pattern, str(e)), f"no {pattern!r} in: {e}"
    else:
        raise AssertionError("the assertion held")
    bench.run(ASSERT, y, x, bad, **args)  # without the option it costs and says nothing
    same_bits(y.raw(), np.arange(total, dtype=np.int32), "stored")


@case(n=[1, 16, 256], warps=[1, 4, 8], only=("cpu", "emu"))
def asserts(bench, n, warps):
    p, i = 5, n // 2
    place = rf"element \({i:{len(str(n - 1))}}\): 100% of v"
    fails(bench, '        device_assert(v != bad, "100% of v")', rf"program \({p}, 0, 0\)(, thread \d+)?: {place}", n,
          warps, p * n + i)


@case(warps=[1, 4], only=("cpu", "emu"))
def asserts_masked(bench, warps):
    """The mask hides the element, and the next assertion fails in the program after."""
    n, bad = 16, 3 * 16 + 12
    fails(bench, "assert p * N", r"program \(4, 0, 0\)(, thread 0)?: in time", n, warps, bad, True)


@case(warps=[1, 4])
def asserts_hold(bench, warps):
    n = 64
    x, y = bench.buffer("i32", 8 * n, np.arange(8 * n)), bench.buffer("i32", 8 * n)
    with Output() as out:
        bench.run(ASSERT, y, x, -1, defines={"N": n, "MASKED": True}, device_debug=True, num_warps=warps)
    assert not out.lines, out.lines[0]
    same_bits(y.raw(), np.arange(8 * n, dtype=np.int32), "stored")


@case(only=("cpu.check", "emu"))
def asserts_checked(bench):
    """With checks, too: an access beside the buffer before it is a finding of its own."""
    source = """
@kernel(grid=(1,))
def f(y: *i32):
    i = arange(0, 16)
    store(y + i, i)
    device_assert(i < 8, "small")
"""
    y = bench.buffer("i32", 12)
    try:
        bench.run(source, y, device_debug=True)
    except fsc.Error as e:
        assert e.status == "FSC_ERROR_ASSERT", str(e)
        assert "out-of-bounds" in str(e) and "element ( 8): small" in str(e), str(e)
        return
    raise AssertionError("nothing was found")


CHILD = """
import sys
sys.path.insert(0, {here!r})
import fsc
from case import Bench
from test_debug import ASSERT
device = fsc.Device("cuda")
with Bench(device) as bench:
    x, y = bench.buffer("i32", 128, range(128)), bench.buffer("i32", 128)
    jit = bench.jit(ASSERT, defines=dict(N=16, MASKED=False), device_debug=True)
    try:
        jit.launch(y, x, 37)
    except fsc.Error as e:
        print(e.status, flush=True)
        import os
        os._exit(7)  # the context is lost: nothing can be freed
"""


@case(only=("cuda",))
def asserts_on_gpu(_):
    """In a process of its own, since the context is lost."""
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([sys.executable, "-c", CHILD.format(here=here)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 7 and "FSC_ERROR_ASSERT" in done.stdout, done.stdout + done.stderr
    assert "assertion: program (2, 0, 0): element ( 5): 100% of v" in done.stdout, done.stdout
