"""test_order.py - loads and stores of one program are in order, whichever threads make them: what a program stored it
loads back, through other elements, other layouts, in loops, in place. On emu every missing barrier is a finding, on a
GPU chance.
"""
import mmap

import numpy as np

from case import case, same_bits
from primitives import calls, tests


@case(warps=[1, 4, 8], n=[64, 256, 1024])
def reversed_back(bench, warps, n):
    source = """
@kernel(grid=(3,))
def f(y: *i32, t: *i32, x: *i32, N: constexpr):
    p = program_id(0) * N
    i = arange(0, N)
    store(t + p + i, load(x + p + i) * 3)
    store(y + p + i, load(t + p + N - 1 - i))
"""
    x = np.random.default_rng(n).integers(-1000, 1000, 3 * n)
    b = [bench.buffer("i32", 3 * n, v) for v in (None, None, x)]
    bench.run(source, *b, defines={"N": n}, num_warps=warps)
    same_bits(b[0].raw(), (x.reshape(3, n)[:, ::-1] * 3).ravel().astype(np.int32), "reversed")


@case(warps=[1, 4, 8], n=[8, 32], same=[False, True])
def transposed_in_place(bench, warps, n, same):
    """One square per program, read by rows and written by columns: every element must be read before any is written."""
    source = """
@kernel(grid=(2,))
def f(y: *fp32, x: *fp32, N: constexpr):
    p = program_id(0) * N * N
    i = arange(0, N)
    v = load(x + p + i[:, None] * N + i[None, :])
    store(y + p + i[None, :] * N + i[:, None], v)
"""
    x = np.float32(np.random.default_rng(n).standard_normal((2, n, n)))
    xb = bench.buffer("fp32", x.size, x.ravel())
    yb = xb if same else bench.buffer("fp32", x.size)
    bench.run(source, yb, xb, defines={"N": n}, num_warps=warps)
    same_bits(yb.raw(), x.transpose(0, 2, 1).ravel(), "transposed")


@case(warps=[1, 2, 8])
def scalar_in_place_steers(bench, warps):
    """Every thread reads the counter that the first one then changes; a branch on it must go one way in all of them."""
    source = """
@kernel(grid=(4,))
def f(y: *i32, c: *i32):
    p = program_id(0)
    n = load(c + p)
    store(c + p, n + 10)
    i = arange(0, 128)
    if n % 2 == 0:
        store(y + p * 128 + i, i + sum(i, axis=0))
    else:
        store(y + p * 128 + i, -i)
"""
    c, y = bench.buffer("i32", 4, [0, 1, 2, 3]), bench.buffer("i32", 512)
    bench.run(source, y, c, num_warps=warps)
    i = np.arange(128)
    want = [i + i.sum() if p % 2 == 0 else -i for p in range(4)]
    same_bits(y.raw(), np.concatenate(want).astype(np.int32), "one way")
    same_bits(c.raw(), np.arange(10, 14, dtype=np.int32), "counters")


@case(warps=[1, 4, 8], n=[32, 512])
def rounds_through_memory(bench, warps, n):
    """A sum over all elements by recursive doubling, each round through the same buffer."""
    source = """
@kernel(grid=(2,))
def f(t: *i32, N: constexpr, LOG: constexpr):
    i = arange(0, N)
    p = t + program_id(0) * N
    step = 1
    for k in range(0, LOG):
        a = load(p + i)
        b = load(p + (i ^ step))
        store(p + i, a + b)
        step = step * 2
"""
    x = np.random.default_rng(n).integers(-1000, 1000, (2, n))
    t = bench.buffer("i32", 2 * n, x.ravel())
    bench.run(source, t, defines={"N": n, "LOG": int(np.log2(n))}, num_warps=warps)
    same_bits(t.raw(), np.repeat(x.sum(axis=1), n).astype(np.int32), "doubling")


@case(warps=[1, 4])
def shifted_in_place(bench, warps):
    """y and x are one buffer; each element takes its neighbour's old value."""
    source = """
@kernel(grid=(1,))
def f(y: *i32, x: *i32, n: i32):
    i = arange(0, 256)
    v = load(x + i + 1, mask=i < n - 1)
    store(y + i, v, mask=i < n - 1)
"""
    x = bench.buffer("i32", 200, np.arange(200) ** 2)
    bench.run(source, x, x, 200, num_warps=warps)
    want = np.append(np.arange(1, 200) ** 2, 199 ** 2)
    same_bits(x.raw(), want.astype(np.int32), "shifted")


@case(warps=[1, 4], only=("cpu", "cpu.check", "emu"))
def far_elements(bench, warps):
    """Elements that lie beyond 2^31 elements and 2^32 bytes of one pointer,
    in memory of which few pages are ever touched."""
    source = """
@kernel(grid=(2,))
def f(y: *i32, x: *i32, step: i32):
    i = arange(0, 64) + 64 * program_id(0)
    at = x + i * step
    store(y + i, load(at))
    store(at, -i)
"""
    step, n = 20_000_003, 128
    size = 4 * (step * (n - 1) + 1)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
    x = np.frombuffer(memory, np.int32)
    want = np.random.default_rng(3).integers(1, 1 << 30, n).astype(np.int32)
    x[::step] = want
    y = bench.buffer("i32", n)
    bench.run(source, y, (x.ctypes.data, "i32", size), step, num_warps=warps)
    same_bits(y.raw(), want, "loaded")
    same_bits(x[::step], -np.arange(n, dtype=np.int32), "stored")
    del x
    memory.close()


@tests("gdc.wait", "gdc.launch")(late=[0, 2000], n=[255, 4096, 300000], said=[True, False])
def launches_overlap(bench, late, n, said):
    """Each launch reads what other programs of the launch ahead wrote, and writes what that one reads. The last
    programs take longest, while those of the launch behind have begun."""
    source = """
@kernel(grid=(cdiv(n, 256),), num_warps=4)
def f(y: *i32, x: *i32, w: *const i32, n: i32, late: i32):
    gdc_launch_dependents()
    i = program_id(0) * 256 + arange(0, 256)
    c = load(w + i, mask=i < n)
    gdc_wait()
    v = load(x + n - 1 - i, mask=i < n)
    for r in range(0, late * program_id(0) // num_programs(0)):
        v = v * 5 + c
    store(y + i, v, mask=i < n)
"""
    late, launches = (late, 20) if bench.device.name == "cuda" else (late // 100, 3)
    rng = np.random.default_rng(n)
    first, c = (rng.integers(-2 ** 31, 2 ** 31, n).astype(np.int32) for _ in range(2))
    x, y, w = bench.buffer("i32", n, first), bench.buffer("i32", n), bench.buffer("i32", n, c)
    if not said:
        source = source.replace("    gdc_wait()\n", "")
    for arch in ("sm_90", "emu"):
        assert {"gdc.wait", "gdc.launch"} <= calls(source, [], [], arch, overlap=not said), arch
    jit = bench.jit(source, overlap=not said)
    for k in range(launches):
        jit.launch(*((y, x) if k % 2 == 0 else (x, y)), w, n, late, wait=False)
    bench.device.wait()
    rounds = late * (np.arange(n) // 256) // ((n + 255) // 256)
    power = np.array([pow(5, r, 2 ** 32) for r in range(late + 1)], np.uint32)
    sums = np.cumsum(power, dtype=np.uint32) - power  # 5^0 + … + 5^(r-1)
    want = first.view(np.uint32)
    for _ in range(launches):
        want = want[::-1] * power[rounds] + c.view(np.uint32) * sums[rounds]
    same_bits((y if launches % 2 else x).read(), want.view(np.int32), "the last launch")
