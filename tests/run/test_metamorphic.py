"""test_metamorphic.py - what must stay when the inputs, the memory or the launch change in a way that changes nothing.

Rows in another order give the same rows in that order; inputs times a power of two give outputs times it; other places
in memory, more room between rows, other bytes under masked-off lanes and a launch in two halves give the same bits; and
of the output a kernel touches what its mask lets through and nothing else. No expected values are needed: a run is
compared with another run, to the bit, special values included.
"""

import numpy as np

from case import case, example, must_fail, same_bits
from fsc import DTYPES, decode, encode
from sweep import FLOATING, FLOATS, INTS, ROWS, WARPS, Config, covering, image_of, launch_rows

SOFTMAX = [f for f in ROWS if f.startswith("softmax")]


def config_of(dtype="fp32", warps=4, offsets=(0, 0), pad=0, n=100, block=None):
    return Config(dtype, warps, offsets, pad, block or 1 << (n - 1).bit_length(), n)


def special(rng, m, n, dtype):
    """Rows of which some hold infinities, NaN, zeros of both signs, subnormals, one value only."""
    x = rng.standard_normal((m, n)) * 3
    if dtype not in FLOATS:
        return rng.integers(0, 100, (m, n))
    x[1, n // 2], x[2, n // 3], x[3, 0] = np.inf, np.nan, -np.inf
    x[4], x[5], x[6] = -0.0, 1e-7, 0.25
    x[7, :] = -np.inf
    return x


def launch(bench, file, x, v, config, **more):
    return decode(launch_rows(bench, ROWS[file], x, v, config, **more), config.dtype)


def dtypes_of(file, k):
    return ROWS[file].dtypes[k % len(ROWS[file].dtypes)]


# ---- The order of rows and elements ----------------------------------------------------------------------------------


def judge_permuted(bench, file, config, source=None):
    rng = np.random.default_rng(config.warps)
    x, v = special(rng, 11, config.n, config.dtype), rng.integers(1, 9, 11)
    order = rng.permutation(11)
    straight = launch(bench, file, x, v, config, source=source)
    permuted = launch(bench, file, x[order], v[order], config, source=source)
    same_bits(permuted, straight[order], f"{file} in {config}")


@case(file=list(ROWS))
def permuted_rows(bench, file):
    for k, warps in enumerate(WARPS):
        judge_permuted(bench, file, config_of(dtypes_of(file, k), warps, [(0, 0), (3, 5)][k % 2], [0, 7, 28][k % 3],
                                              [100, 33, 257][k % 3]))


@case(dtype=["fp32", "i8", "fp64"], warps=[1, 8])
def permuted_elements(bench, dtype, warps):
    """add.dsl, element by element: whatever lane and register an element falls to."""
    n = 777
    rng = np.random.default_rng(n)
    a, b, order = rng.integers(-60, 60, n), rng.integers(-60, 60, n), rng.permutation(n)
    results = []
    for p in (np.arange(n), order):
        x, y, z = bench.buffer(dtype, n, a[p]), bench.buffer(dtype, n, b[p]), bench.buffer(dtype, n)
        bench.run(example("add.dsl"), z, x, y, n, types={"T": dtype}, num_warps=warps, defines={"BLOCK": 256})
        results.append(z.raw())
    same_bits(results[1], results[0][order], "permuted sum")


@case(dtype=["i32", "u64", "i8", "fp64"], warps=WARPS)
def permuted_columns(bench, dtype, warps):
    """Sums of integers and maxima do not depend on which threads hold what."""
    rng = np.random.default_rng(warps)
    file = "naive/row_max.dsl" if dtype == "fp64" else "naive/row_sum.dsl"
    x = rng.standard_normal((4, 300)) if dtype == "fp64" else rng.integers(0, 127, (4, 300))
    config = config_of(dtype, warps, n=300)
    same_bits(launch(bench, file, x[:, rng.permutation(300)], None, config), launch(bench, file, x, None, config),
              f"{file} {dtype}")


# ---- Scale and sign --------------------------------------------------------------------------------------------------


@case(file=["naive/row_sum.dsl", "naive/row_max.dsl", "naive/subtract.dsl"], dtype=FLOATS)
def scaled_by_power_of_two(bench, file, dtype):
    """Exact, however the sum is split, while nothing overflows or becomes subnormal."""
    k = 2.0 ** 3 if dtype == "fp16" else 2.0 ** 40
    for warps, n in zip(WARPS, [100, 33, 1000, 128, 31, 257]):
        rng = np.random.default_rng(n)
        x, v = rng.standard_normal((5, n)) * 4, rng.standard_normal(5)
        x, v = (decode(image_of(t, dtype), dtype).reshape(np.shape(t)) for t in (x, v))
        if dtype == "fp16":  # fine enough that no difference or sum is subnormal
            x, v = np.round(x * 64) / 64, np.round(v * 64) / 64
        config = config_of(dtype, warps, n=n)
        once = launch(bench, file, x, v, config)
        for factor in (k, 1 / k, -1.0):
            if file == "naive/row_max.dsl" and factor < 0:
                continue
            same_bits(launch(bench, file, x * factor, v * factor, config) + 0.0, once * factor + 0.0,
                      f"{file} times {factor} in {config}")


@case(file=["naive/divide.dsl"] + SOFTMAX[:3])
def unchanged_by(bench, file):
    """Both operands of a quotient times 2^k; every element of a softmax's row plus a number, where that is exact."""
    rng = np.random.default_rng(1)
    for warps, n in zip(WARPS, [100, 33, 1000, 128, 31, 257]):
        x, v = np.round(rng.standard_normal((5, n)) * 64) / 64, rng.uniform(1, 9, 5).astype(np.float32)
        config = config_of("fp32", warps, n=n)
        other = (x * 2.0 ** 20, v * 2.0 ** 20) if file == "naive/divide.dsl" else (x + 512, v)
        same_bits(launch(bench, file, *other, config), launch(bench, file, x, v, config), f"{file} in {config}")


# ---- Places in memory ------------------------------------------------------------------------------------------------


@case(file=list(ROWS))
def moved_in_memory(bench, file):
    """The same variant (16 bytes are kept) elsewhere, with more room between rows: the same bits, softmax included."""
    rng = np.random.default_rng(2)
    for k, warps in enumerate(WARPS):
        dtype, n = dtypes_of(file, k), [112, 48, 256][k % 3]  # multiples of 16: so is every stride below
        x, v = special(rng, 9, n, dtype), rng.integers(1, 9, 9)
        first = launch(bench, file, x, v, config_of(dtype, warps, n=n))
        for offsets, pad in (((16, 0), 0), ((0, 32), 16), ((48, 16), 96)):
            same_bits(launch(bench, file, x, v, config_of(dtype, warps, offsets, pad, n)), first,
                      f"{file} {offsets} {pad}")


@case(file=[f for f in ROWS if ROWS[f].exact or f == "naive/exp.dsl"])
def any_alignment(bench, file):
    """Every offset from 0 to 15 elements and odd strides: other vectors,
    the same bits where no order of a sum is seen."""
    rng = np.random.default_rng(3)
    for k in range(16):
        dtype, n = dtypes_of(file, k // 4), 60
        x, v = rng.integers(0, 4, (3, n)), rng.integers(0, 4, 3)
        first = launch(bench, file, x, v, config_of(dtype, 1, n=n))
        same_bits(launch(bench, file, x, v, config_of(dtype, WARPS[k % 6], (k, 15 - k), k % 5, n)), first,
                  f"{file} {dtype} at {k}")


@case(file=list(ROWS), between=[0.0, np.inf, -np.inf, 1e30])
def bytes_under_masked_lanes(bench, file, between):
    """What lies between the rows, under lanes that are masked off, is never seen: not NaN, not infinity."""
    rng = np.random.default_rng(4)
    for k, warps in enumerate([1, 4, 32]):
        dtype, n = dtypes_of(file, k) if ROWS[file].dtypes[0] in FLOATS else "fp32", [100, 31, 65][k]
        dtype = dtype if dtype in FLOATS else "fp32"
        x, v = special(rng, 9, n, dtype), rng.integers(1, 9, 9)
        config = config_of(dtype, warps, (k, k), [28, 1, 15][k], n)
        same_bits(launch(bench, file, x, v, config, between=between), launch(bench, file, x, v, config),
                  f"{file} in {config}")


# ---- The launch ------------------------------------------------------------------------------------------------------


@case(file=list(ROWS), dtype=["fp32", "fp16"])
def launched_in_halves(bench, file, dtype):
    """Rows 0 … h and h … m by launches of their own, on parts of the same buffers."""
    rows, m, n = ROWS[file], 10, 96
    rng = np.random.default_rng(5)
    x, v = special(rng, m, n, dtype), rng.integers(1, 9, m)
    size, width = DTYPES[dtype][1]().itemsize, 1 if rows.one_a_row else n
    xb, vb = bench.buffer(dtype, m * n, x.ravel()), bench.buffer(dtype, m, v)
    for warps in (1, 4, 16):
        jit = bench.jit_once(example(file), num_warps=warps, defines={"BLOCK": 128}, types={"T": dtype})
        images = []
        for cut in (0, 3, 8):
            yb = bench.buffer(dtype, m * width)
            for begin, end in ((0, cut), (cut, m)):
                def part(b, w):
                    return (b.address + begin * w * size, dtype, (end - begin) * w * size)
                vector = [part(vb, 1)] if rows.vector else []
                strides = [n] if rows.one_a_row else [n, n]
                jit.launch(part(yb, width), part(xb, n), *vector, *strides, end - begin, n)
            images.append(decode(yb.raw(), dtype))
        for image in images[1:]:
            same_bits(image, images[0], f"{file} in parts, {warps} warps")


@case(dtype=FLOATING)
def any_number_of_programs(bench, dtype):
    """The persistent form: rows dealt to 1, 2, 5 or more programs than there are rows."""
    x = special(np.random.default_rng(6), 13, 100, dtype)
    for warps in (1, 8):
        config = config_of(dtype, warps)
        first = launch(bench, "softmax_persistent.dsl", x, None, config, grid=[1])
        for programs in (2, 5, 13, 20):
            same_bits(launch(bench, "softmax_persistent.dsl", x, None, config, grid=[programs]), first,
                      f"{programs} programs")


# ---- Only what the mask lets through ---------------------------------------------------------------------------------

MASKED = """
@kernel(grid=(BLOCK + 1,))
def f(y: *T, x: *T, bits: *i8, ld: i32, BLOCK: constexpr = 64, T: dtype = fp32):
    p = program_id(0)
    i = arange(0, BLOCK)
    m = {mask}
    store(y + p * ld + i, load(x + p * ld + i, mask=m, other=5), mask=m)
    store(y + (BLOCK + 1 + p) * ld + i, load(x + p * ld + i, mask=m, other=5))
"""
MASKS = {  # expression: what it is for program p and element i
    "i < p": lambda p, i, b: i < p,
    "i >= p": lambda p, i, b: i >= p,
    "i != p": lambda p, i, b: i != p,
    "(i < p) & (i >= p // 2)": lambda p, i, b: (i < p) & (i >= p // 2),
    "(i * p) % 8 < 4": lambda p, i, b: (i * p) % 8 < 4,
    "load(bits + p * BLOCK + i) != 0": lambda p, i, b: b != 0,
    "p % 2 == 0": lambda p, i, b: (p % 2 == 0) & (i >= 0),
}


def judge_mask(bench, mask, config, block, source=MASKED):
    m, ld, d = block + 1, block + config.pad, config.dtype
    rng = np.random.default_rng(block)
    p, i, bits = np.arange(m)[:, None], np.arange(block)[None, :], rng.integers(0, 2, (m, block))
    on = np.broadcast_to(MASKS[mask](p, i, bits), (m, block))
    x = encode(rng.integers(6, 100, (m, ld)), d).reshape(m, ld)
    hidden = x.copy()
    hidden[:, :block][~on] = encode(np.array([np.nan if d in FLOATS else 101]), d)[0]
    bb = bench.buffer("i8", bits.size, bits.ravel())
    jit = bench.jit_once(source.format(mask=mask), defines={"BLOCK": block}, types={"T": d}, num_warps=config.warps)
    for image in (x, hidden):
        xb, yb = bench.buffer(d, m * ld,
                              offset=config.offsets[0]), bench.buffer(d, 2 * m * ld, offset=config.offsets[1])
        xb.write(image)
        want = yb.raw().reshape(2, m, ld)
        want[0, :, :block][on] = x[:, :block][on]
        want[1, :, :block] = np.where(on, x[:, :block], encode(np.array([5]), d)[0])
        jit.launch(yb, xb, bb, ld)
        got = yb.raw().reshape(2, m, ld)
        if got.tobytes() == want.tobytes():
            continue
        where = np.argwhere(got.view(f"u{got.itemsize}") != want.view(f"u{got.itemsize}"))[0]
        raise AssertionError(f"{mask} in {config}, block {block}: part {where[0]}, program {where[1]}, element "
                             f"{where[2]} is "
                             f"{got[tuple(where)]!r}, not {want[tuple(where)]!r}")


@case(mask=list(MASKS))
def masked_bytes(bench, mask):
    """Masks that end at every place 0 … block, so that every vector is cut at every element; poison must stay, and what
    lies under masked-off lanes must not be seen."""
    for k, dtype in enumerate(FLOATS + INTS):
        config = config_of(dtype, WARPS[k % 6], [(0, 0), (16, 16), (1, 3), (0, 2)][k % 4], [16, 0, 0, 5][k % 4])
        judge_mask(bench, mask, config, [64, 32, 16][k % 3])


@case(slow=True, mask=list(MASKS))
def masked_bytes_wide(bench, mask):
    """Any two of warps, type and place; over four masks any three."""
    turn = list(MASKS).index(mask) % 4
    places = [((0, 0), 16, 128), ((16, 16), 0, 64), ((0, 5), 1, 64), ((7, 0), 32, 256)]
    for warps, dtype, (offsets, pad, block) in covering(WARPS, FLOATS + INTS, places[turn:] + places[:turn]):
        judge_mask(bench, mask, config_of(dtype, warps, offsets, pad), block)


@case(slow=True, file=list(ROWS))
def permuted_rows_wide(bench, file):
    """Any two of warps, type and shape, but rotated tiles: rows that begin elsewhere add in another order there."""
    shapes = [(n, *place) for n in (33, 257, 500) for place in (((0, 0), 0), ((0, 0), 16 - n % 16), ((1, 2), 3))]
    for warps, dtype, (n, offsets, pad) in covering(WARPS, ROWS[file].dtypes, shapes):
        judge_permuted(bench, file, config_of(dtype, warps, offsets, pad, n))


# ---- The tests of the tests ------------------------------------------------------------------------------------------


@case()
def metamorphic_checks_can_fail(bench):
    """Kernels with one mistake each, which their relation must see."""
    source = example("naive/row_max.dsl").decode()
    config = config_of(n=100, pad=28)
    numbered = source.replace("max(v, axis=0))", "max(v, axis=0) + row)")
    must_fail(lambda: judge_permuted(bench, "naive/row_max.dsl", config, numbered), "the row's number")
    wide = source.replace("cols < n_cols", "cols < n_cols + 1")
    x = np.zeros((9, 100))
    must_fail(lambda: same_bits(launch(bench, "naive/row_max.dsl", x, None, config, between=7.0, source=wide),
                                launch(bench, "naive/row_max.dsl", x, None, config, between=0.0, source=wide)),
              "a mask too wide")
    judge = config_of(n=64, pad=16)
    for right, wrong in (("mask=m)\n    store(y + (", "mask=i <= p)\n    store(y + ("), ("other=5))\n", "other=6))\n"),
                         ("mask=m, other=5), mask=m)", "mask=m, other=5), mask=i + 1 < p)")):
        assert right in MASKED
        must_fail(lambda: judge_mask(bench, "i < p", judge, 64, MASKED.replace(right, wrong)), wrong)
    square = example("naive/row_sum.dsl").decode().replace("sum(v, axis=0)", "sum(v * v, axis=0)")
    y = np.ones((5, 100))
    must_fail(lambda: same_bits(launch(bench, "naive/row_sum.dsl", y * 4, None, config, source=square),
                                launch(bench, "naive/row_sum.dsl", y, None, config, source=square) * 4), "squares")
