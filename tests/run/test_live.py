"""test_live.py - rows whose length is known as a range: registers beyond it, below it and in between;
rows that begin anywhere.

Lengths stand around the borders of the ranges that variants are compiled for. What lies between the rows is NaN, or a
number that would be seen in every result; values are integers, so that results are exact whatever the order.
"""
import numpy as np

from case import case, example, must_fail, same_bits
from fsc import Error
from test_softmax import judge, launch

BORDERS = [1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 511, 512, 513, 767, 768, 769, 1023, 1024, 1025, 1279, 1280,
           1281, 1537]
LONG = [4095, 4096, 4097, 4351, 4352, 4353, 4608, 5121, 8191, 8192, 8193, 8320, 9215, 9216, 9217, 10241, 15361, 16381,
        16384]
POISON = 1000.0  # in memory that no result may see

ROWS = """
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def rows(y: *T[n_rows:y_stride, n_cols], s: *fp32[n_rows, 4], x: *T[n_rows:x_stride, n_cols],
         y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, OTHER: constexpr = 0.0, BLOCK: constexpr = 1,
         T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask, other=OTHER).to(fp32)
    store(s + row * 4, sum(v, axis=0))
    store(s + row * 4 + 1, max(v, axis=0))
    store(s + row * 4 + 2, min(v, axis=0))
    store(s + row * 4 + 3, sum(where(mask, v * 2.0, 3.0), axis=0))
    store(y + row * y_stride + cols, (v * 2.0 + cols % 8).to(T), mask=mask)
"""


def numbers(rows, n, seed=0):
    return np.random.default_rng(seed + n).integers(-9, 10, (rows, n)).astype(np.float64)


def run_rows(bench, dtype, rows, n, x_stride, y_stride, other=0.0, offsets=(0, 0), seed=0, **options):
    x = numbers(rows, n, seed)
    image = np.full((rows, x_stride), POISON)
    image[:, :n] = x
    xb = bench.buffer(dtype, rows * x_stride, image, offset=offsets[0])
    yb = bench.buffer(dtype, rows * y_stride, offset=offsets[1])
    before = yb.raw().reshape(rows, y_stride).copy()
    sb = bench.buffer("fp32", rows * 4)
    jit = bench.jit_once(ROWS, defines={"OTHER": other}, types={"T": dtype}, **options)
    jit.launch(yb, sb, xb, y_stride, x_stride, rows, n)
    what = f"{dtype} {rows}x{n} strides {x_stride} {y_stride} offsets {offsets} other {other}"
    after = yb.raw().reshape(rows, y_stride)
    assert after[:, n:].tobytes() == before[:, n:].tobytes(), f"{what}: elements between the rows were written"
    block = 1 << max(0, int(n - 1).bit_length())
    rest = block - n
    padded = np.concatenate([x, np.full((rows, rest), other)], axis=1)
    want = np.stack([padded.sum(1), padded.max(1), padded.min(1), 2 * x.sum(1) + 3 * rest], axis=1)
    same_bits(sb.read().reshape(rows, 4).astype(np.float32), want.astype(np.float32), what + ": sums")
    got = yb.read().reshape(rows, y_stride)[:, :n]
    same_bits(np.float32(got), np.float32(x * 2 + np.arange(n) % 8), what + ": rows")
    return jit


@case(dtype=["fp32", "fp16"], other=[0.0, 2.5])
def live_borders(bench, dtype, other):
    for n in BORDERS:
        run_rows(bench, dtype, 3, n, n, n, other)


@case(slow=True, dtype=["fp32", "fp16", "bf16"], warps=[0, 1, 4, 8])
def live_long(bench, dtype, warps):
    for n in LONG:
        run_rows(bench, dtype, 2, n, n, n, -1.0, **({"num_warps": warps} if warps else {}))


@case(n=[4353, 8320])
def live_half_empty(bench, n):
    run_rows(bench, "fp32", 2, n, n, n, 0.5)
    run_rows(bench, "fp32", 2, n, n + 16 - n % 16, n + 5, 0.5)


@case(dtype=["fp32", "fp16"], n=[781, 1100, 1496, 2045])
def live_strides(bench, dtype, n):
    """Every misalignment of the rows of either side, equal and different ones."""
    for dx, dy in ((0, 0), (1, 1), (2, 2), (3, 3), (1, 0), (0, 1), (5, 2), (7, 8), (8, 7)):
        run_rows(bench, dtype, 5, n, n + dx, n + dy)


@case(dtype=["fp32", "fp16"])
def live_offsets(bench, dtype):
    for a, b in ((0, 0), (1, 1), (3, 3), (1, 2), (0, 3), (7, 7), (6, 5)):
        run_rows(bench, dtype, 4, 600, 600, 600, offsets=(a, b))
        run_rows(bench, dtype, 4, 601, 603, 601, offsets=(a, b))
        run_rows(bench, dtype, 4, 1601, 1603, 1601, offsets=(a, b))
        run_rows(bench, dtype, 3, 2047, 2047, 2047, offsets=(a, b))


@case(dtype=["fp32", "fp16", "bf16"], n=[512, 1009, 1024, 1025, 1500, 2047])
def live_softmax(bench, dtype, n):
    rng = np.random.default_rng(n)
    for xs, ys, offset in ((n, n, 0), (n + 1, n + 1, 0), (n + 3, n + 16 - n % 16, 1), (n, n, 3)):
        got, seen = launch(bench, example("softmax.dsl"), rng.standard_normal((4, n)), dtype, x_stride=xs, y_stride=ys,
                           offset=offset)
        judge(got, seen, dtype, f"softmax {dtype} {n} strides {xs} {ys} offset {offset}")


@case(n=[515, 1023, 1024, 1300, 2046])
def live_in_place(bench, n):
    for stride in (n, n + 1, n + 3):
        rows = 6
        x = numbers(rows, n)
        image = np.full((rows, stride), POISON)
        image[:, :n] = x
        b, s = bench.buffer("fp32", rows * stride, image), bench.buffer("fp32", rows * 4)
        bench.jit_once(ROWS).launch(b, s, b, stride, stride, rows, n)
        image[:, :n] = x * 2 + np.arange(n) % 8
        same_bits(np.float32(b.read()), np.float32(image.ravel()), f"in place, {n} of {stride}")


@case(dtype=["i8", "u8", "i16", "i32", "i64", "fp64", "fp16"], n=[700, 1201, 2041])
def shifted_types(bench, dtype, n):
    """A copy with a constant beside it, and the row's integer sum."""
    source = """
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols))
def f(y: *T, s: *i32, x: *T, y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1,
      T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask, other=0)
    store(s + row, sum(v.to(i32) * (cols % 3), axis=0))
    store(y + row * y_stride + cols, v + 1, mask=mask)
"""
    rows = 4
    x = np.random.default_rng(n).integers(0, 100, (rows, n))
    jit = bench.jit(source, types={"T": dtype})
    for dx, dy, offset in ((0, 0, 0), (1, 1, 0), (3, 3, 2), (1, 2, 1), (9, 25, 5)):
        image = np.full((rows, n + dx), 101)
        image[:, :n] = x
        xb = bench.buffer(dtype, image.size, image, offset=offset)
        yb = bench.buffer(dtype, rows * (n + dy), np.full(rows * (n + dy), 55), offset=offset)
        sb = bench.buffer("i32", rows)
        jit.launch(yb, sb, xb, n + dy, n + dx, rows, n)
        want = np.full((rows, n + dy), 55)
        want[:, :n] = x + 1
        same_bits(yb.read().astype(np.int64), want.ravel(), f"{dtype} {n} {dx} {dy}")
        same_bits(sb.raw(), (x * (np.arange(n) % 3)).sum(1).astype(np.int32), f"sum of {dtype} {n} {dx} {dy}")


@case(rows=[3, 4, 7], cols=[5, 33, 100])
def live_rank2(bench, rows, cols):
    """Both axes of a tile are bounded; registers beyond either are interleaved with those inside."""
    source = """
@kernel(grid=(1,), R=next_power_of_2(rows), C=next_power_of_2(cols))
def f(y: *fp32, s: *fp32, t: *fp32, x: *fp32, stride: i32, rows: i32, cols: i32, R: constexpr = 1, C: constexpr = 1):
    r = arange(0, R)
    c = arange(0, C)
    mask = (r < rows)[:, None] & (c < cols)[None, :]
    at = r[:, None] * stride + c[None, :]
    v = load(x + at, mask=mask, other=2.0)
    store(s + r, sum(v, axis=1), mask=r < rows)
    store(t + c, max(v, axis=0), mask=c < cols)
    store(y + at, v - min(min(v, axis=1), axis=0), mask=mask)
"""
    for warps in (1, 2, 4):
        for stride in (cols, cols + 3, 128):
            x = numbers(rows, cols)
            image = np.full((rows, stride), POISON)
            image[:, :cols] = x
            xb, yb = bench.buffer("fp32", image.size, image), bench.buffer("fp32", image.size, np.full(image.size, 7))
            sb, tb = bench.buffer("fp32", rows), bench.buffer("fp32", cols)
            bench.jit_once(source, num_warps=warps).launch(yb, sb, tb, xb, stride, rows, cols)
            R, C = 1 << (rows - 1).bit_length(), 1 << (cols - 1).bit_length()
            padded = np.full((R, C), 2.0)
            padded[:rows, :cols] = x
            what = f"{rows}x{cols} of {stride}, {warps} warps"
            same_bits(sb.read(), padded.sum(1)[:rows], what + ": sums")
            same_bits(tb.read(), padded.max(0)[:cols], what + ": maxima")
            want = np.full((rows, stride), 7.0)
            want[:, :cols] = x - padded.min()
            same_bits(yb.read(), want.ravel(), what)


@case(n=[0, 2, 600, 777, 1000])
def author_bounds(bench, n):
    """assume() and -D bound a row by hand; a launch beyond is refused."""
    source = """
@kernel(grid=(n_rows,))
def f(y: *i32, x: *i32, n_rows: i32, n: i32, BLOCK: constexpr = 1024):
    HINT
    cols = arange(0, BLOCK)
    v = load(x + program_id(0) * n + cols, mask=cols < n, other=-1)
    store(y + program_id(0) * 2, sum(v, axis=0))
    store(y + program_id(0) * 2 + 1, min(v, axis=0))
"""
    rows = 3
    x = np.random.default_rng(n).integers(0, 100, (rows, n)).astype(np.int32)
    padded = np.concatenate([x, np.full((rows, 1024 - n), -1, np.int32)], axis=1)
    want = np.stack([padded.sum(1), padded.min(1)], axis=1).astype(np.int32)
    for hint, defines, least, most in (("assume(n <= 700)", {}, 0, 700), ("assume(n >= 600)", {}, 600, 2**31),
                                       ("assume((n > 599))", {}, 600, 2**31), ("pass", {"n<": 777}, 0, 777),
                                       ("pass", {"n>": 600, "n<": 999}, 600, 999)):
        xb, yb = bench.buffer("i32", rows * n, x), bench.buffer("i32", rows * 2)
        jit = bench.jit(source.replace("HINT", hint), defines=defines)
        try:
            jit.launch(yb, xb, rows, n)
        except Error as e:
            assert not least <= n <= most and "compiled for" in str(e), f"{hint} {defines} {n}: {e}"
            continue
        assert least <= n <= most, f"{hint} {defines}: a launch with {n} was not refused"
        same_bits(yb.raw().reshape(rows, 2), want, f"{hint} {defines} {n}")


@case(n=[1, 5, 600])
def live_negative(bench, n):
    """A bound that is not the row's length: a mask from the other side, and one that nothing passes."""
    source = """
@kernel(grid=(1,), BLOCK=next_power_of_2(n))
def f(y: *i32, x: *i32, n: i32, BLOCK: constexpr = 1):
    i = arange(0, BLOCK)
    a = load(x + i, mask=n > i, other=5)
    b = load(x + (n - 1 - i), mask=(i <= n - 1) & (i >= 0), other=7)
    c = load(x + i, mask=i + n < 0, other=9)
    store(y + i, a * 10000 + b * 100 + c, mask=~(i >= n))
"""
    x = np.arange(n, dtype=np.int32) % 90
    xb, yb = bench.buffer("i32", n, x), bench.buffer("i32", n)
    bench.run(source, yb, xb, n)
    same_bits(yb.raw(), x * 10000 + x[::-1] * 100 + 9, f"masks of {n}")


@case(dtype=["fp16", "fp32", "i16", "fp64"], n=[2049, 2305, 4353], warps=[1, 4])
def live_cut(bench, dtype, n, warps):
    """Rows whose beginning and end cut a vector each, after 1 to 8 elements, x and y alike and not; the first row is
    the buffer's first, the last its last."""
    source = """
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols))
def f(y: *T, s: *i32, x: *T, y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1,
      T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask, other=OTHER)
    store(s + row, sum(v.to(i32) * (cols % 5 + 1), axis=0))
    store(y + row * y_stride + cols, v + 1, mask=mask)
"""
    rows = 3
    for m, dx, dy, at, to, other in ((n, 0, 0, 0, 0, "7"), (n + 1, 0, 2, 3, 3, "7"), (n + 2, 1, 1, 0, 5, "7"),
                                     (n + 3, 4, 3, 0, 0, "cols % 7"), (n + 4, 0, 0, 7, 7, "cols % 7"),
                                     (n + 5, 5, 13, 1, 1, "7"), (n + 6, 0, 0, 2, 0, "7"),
                                     (n + 7, 0, 0, 0, 0, "cols % 7")):
        jit = bench.jit_once(source.replace("OTHER", other), types={"T": dtype}, num_warps=warps)
        x = np.random.default_rng(m).integers(0, 100, (rows, m))
        image = np.full((rows, m + dx), 101)
        image[:, :m] = x
        xb = bench.buffer(dtype, image.size - dx, image.ravel()[:image.size - dx], offset=at)
        size = rows * (m + dy) - dy
        yb = bench.buffer(dtype, size, np.full(size, 55), offset=to)
        sb = bench.buffer("i32", rows)
        jit.launch(yb, sb, xb, m + dy, m + dx, rows, m)
        places = np.arange(1 << m.bit_length())
        padded = np.tile(places % 7 if other != "7" else np.full(len(places), 7), (rows, 1))
        padded[:, :m] = x
        want = np.full((rows, m + dy), 55)
        want[:, :m] = x + 1
        what = f"{dtype} {m} {dx} {dy} {at} {to}"
        same_bits(yb.read().astype(np.int64), want.ravel()[:size], what)
        same_bits(sb.raw(), (padded * (places % 5 + 1)).sum(1).astype(np.int32), f"sum of {what}")


@case(dtype=["fp16", "fp32", "i8"], n=[1, 2, 3, 7, 8, 9, 17, 2032, 2033, 2047, 2048])
def live_any(bench, dtype, n):
    """Nothing is known of the length: a row may begin and end within a vector, or fill its tile."""
    source = """
@kernel(grid=(n_rows,))
def f(y: *T, x: *T, y_stride: i32, x_stride: i32, n_rows: i32, n: i32, BLOCK: constexpr = 2048, T: dtype = fp32):
    HINT
    i = arange(0, BLOCK)
    v = load(x + program_id(0) * x_stride + i, mask=i < n, other=3)
    store(y + program_id(0) * y_stride + i, v + 1, mask=i < n)
"""
    rows = 5
    for hint in ("pass", "assume(n <= 2032)") if n <= 2032 else ("pass",):
        for dx, dy, at in ((0, 0, 0), (1, 1, 3), (2, 5, 1)):
            x = np.random.default_rng(n).integers(0, 100, rows * (n + dx) - dx)
            xb = bench.buffer(dtype, len(x), x, offset=at)
            yb = bench.buffer(dtype, rows * (n + dy) - dy, np.full(rows * (n + dy) - dy, 55), offset=at)
            bench.jit_once(source.replace("HINT", hint), types={"T": dtype}).launch(yb, xb, n + dy, n + dx, rows, n)
            want = np.full(rows * (n + dy), 55)
            for r in range(rows): want[r * (n + dy):r * (n + dy) + n] = x[r * (n + dx):r * (n + dx) + n] + 1
            same_bits(yb.read().astype(np.int64), want[:len(want) - dy], f"{dtype} {n} {dx} {dy} {at} {hint}")


@case(n=[1281, 2047])
def shifted_loop(bench, n):
    """Rows walked in tiles: each tile of a row wraps, and the sum is carried from tile to tile."""
    source = """
@kernel(grid=(n_rows,))
def f(y: *fp32, s: *fp32, x: *fp32, stride: i32, n_rows: i32, n: i32, BLOCK: constexpr = 2048):
    base = program_id(0) * stride
    i = arange(0, BLOCK)
    acc = zeros([BLOCK], fp32)
    for k in range(0, n * 3, BLOCK):
        v = load(x + base + k + i, mask=k + i < n * 3, other=0.0)
        acc = acc + v
        store(y + base + k + i, v + i % 4, mask=k + i < n * 3)
    store(s + program_id(0), sum(acc, axis=0))
"""
    rows = 2
    for stride, offset in ((3 * n, 0), (3 * n + 1, 1), (3 * n + 2, 3)):
        x = numbers(rows, 3 * n)
        image = np.full((rows, stride), POISON)
        image[:, :3 * n] = x
        xb, yb = bench.buffer("fp32", image.size, image,
                              offset=offset), bench.buffer("fp32", image.size, image, offset=offset)
        sb = bench.buffer("fp32", rows)
        bench.jit_once(source).launch(yb, sb, xb, stride, rows, n)
        image[:, :3 * n] = x + np.arange(3 * n) % 2048 % 4
        same_bits(yb.read(), image.ravel(), f"loop {n} {stride} {offset}")
        same_bits(sb.read(), x.sum(1), f"sum of loop {n} {stride} {offset}")


@case(slow=True, only=["emu", "cuda"])
def live_variants(bench):
    """Few variants over all lengths, each right at its borders."""
    jit = bench.jit(example("softmax.dsl"))
    b = bench.buffer("fp32", 16384)
    seen = {jit.prepare([b, b, n, n, 1, n]).value for n in range(1, 16385)}
    assert 30 < len(seen) <= 64, f"{len(seen)} variants over 1 ... 16384"


@case()
def live_judges(bench):
    """The judge sees an element too many, one too few, and a register that was counted once."""
    x = numbers(2, 600)
    want = np.concatenate([x, np.full((2, 424), 2.5)], axis=1).sum(1)
    for wrong in (want + 2.5, want - 2.5, x.sum(1), want + POISON):
        must_fail(lambda: same_bits(wrong, want), "another sum")


@case(dtype=["fp16", "i8"], n=[2040, 2048, 2064, 3000])
def rows_beyond_the_tile(bench, dtype, n):
    """A mask that ends at the tile's end or beyond it: the vector that a rotation wraps around is no run,
    and nothing behind the tile is read."""
    source = """
@kernel(num_warps=2)
def f(y: *T, x: *T, w: *T, x_stride: i32, y_stride: i32, n: N, BLOCK: constexpr = 2048, T: dtype = fp16,
      N: dtype = i32):
    row = program_id(0)
    i = arange(0, BLOCK)
    v = load(x + row * x_stride + i, mask=i < n) + load(w + i, mask=i < n)
    store(y + row * y_stride + i, v, mask=i < n)
"""
    rows, seen = 4, min(n, 2048)
    for dx, dy in ((3, 1), (0, 5), (7, 7)):
        x = np.random.default_rng(n).integers(-9, 10, ((rows - 1) * (n + dx) + seen,))
        w = np.random.default_rng(dx).integers(-9, 10, seen)
        xb, wb = bench.buffer(dtype, len(x), x), bench.buffer(dtype, seen, w)
        y = bench.buffer(dtype, (rows - 1) * (n + dy) + seen, np.full((rows - 1) * (n + dy) + seen, 55))
        for index in ("i32", "i64"):
            bench.run(source, y, xb, wb, n + dx, n + dy, n, grid=[rows], types={"T": dtype, "N": index})
            got = y.read()
            want = np.full(len(got), 55.0)
            for r in range(rows):
                want[r * (n + dy):r * (n + dy) + seen] = x[r * (n + dx):r * (n + dx) + seen] + w
            same_bits(np.float32(got), np.float32(want), f"{dtype} {n} {dx} {dy} {index}")
