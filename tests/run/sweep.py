"""sweep.py - the axes over which kernels are swept, and how a kernel over rows is launched:
for test_differential.py and test_metamorphic.py.

In: the types, block sizes and lengths that a kernel takes. Out: configurations in which each value of each axis occurs.
Method: configuration k takes value k of every axis, round and round; with --all any two values of the axes that decide
the code meet in one: warps, alignment, block, type. How many programs of one warp share a block,
a launch decides by its grid: test_packing.py.
"""
import itertools
from collections import namedtuple

import numpy as np

from case import example
from fsc import decode, encode

WARPS = [4, 1, 32, 2, 16, 8]
# Where the buffers begin, in elements: input, output. The first keeps both at 16 bytes for types of 2 bytes and more.
OFFSETS = [(0, 8), (1, 15), (0, 0), (2, 4), (3, 6), (5, 7), (12, 9), (11, 10), (14, 13)]
# Of those the ones that differ in the largest powers of two that divide them.
STARTS = [(0, 8), (1, 15), (0, 0), (2, 4), (3, 6), (12, 9), (14, 13)]
PADS = [0, 1, 7, 16, 3]   # elements between rows
FLOATS = ["fp32", "fp16", "bf16", "fp64"]
INTS = ["i32", "u8", "i64", "i8", "u32", "i16", "u64", "u16"]

Config = namedtuple("Config", "dtype warps offsets pad block n")


def sweep(dtypes, blocks, lengths):
    """As few configurations as give every value of every axis."""
    axes = [dtypes, WARPS, OFFSETS, PADS, blocks, lengths]
    return [Config(*(axis[k % len(axis)] for axis in axes)) for k in range(max(map(len, axes)))]


def covering(*axes):
    """Few tuples of a value of each axis, in which any two values of any two axes meet: each begins with two that have
    not met, and goes on with what meets most of them for the first time."""
    missing = dict.fromkeys(((a, x), (b, y)) for a, b in itertools.combinations(range(len(axes)), 2)
                            for x in axes[a] for y in axes[b])
    found = []
    while missing:
        row = dict(next(iter(missing)))
        for c, axis in enumerate(axes):
            turn = len(found) % len(axis)
            row.setdefault(c, max(axis[turn:] + axis[:turn], key=lambda v: sum(
                ((c, v), other) in missing or (other, (c, v)) in missing for other in row.items())))
        for pair in itertools.combinations(sorted(row.items()), 2):
            missing.pop(pair, None)
        found.append(tuple(row[c] for c in range(len(axes))))
    return found


def sweep_wide(dtypes, blocks, lengths):
    """Any two values of warps, alignment, block and type."""
    return [Config(d, w, o, PADS[k % len(PADS)], b, lengths[k % len(lengths)])
            for k, (w, o, b, d) in enumerate(covering(WARPS, STARTS, blocks, dtypes))]


def image_of(x, dtype):
    with np.errstate(all="ignore"):
        return encode(x, dtype)


# ---- Kernels over rows -----------------------------------------------------------------------------------------------

# What an example takes beside its output and its matrix, and whether the output is one number a row.
Rows = namedtuple("Rows", "file vector one_a_row dtypes exact")
FLOATING = ["fp32", "fp16", "bf16"]
ROWS = {r.file: r for r in (
    Rows("softmax.dsl", False, False, FLOATING, False),
    Rows("softmax_persistent.dsl", False, False, FLOATING, False),
    Rows("softmax_tiled.dsl", False, False, FLOATING, False),
    Rows("softmax_unstable.dsl", False, False, FLOATING, False),
    Rows("naive/row_max.dsl", False, True, FLOATS, True),
    Rows("naive/row_sum.dsl", False, True, FLOATING + ["fp64", "i32", "u32", "i64", "u64"], True),
    Rows("naive/subtract.dsl", True, False, FLOATS + INTS, True),
    Rows("naive/exp.dsl", False, False, FLOATING, False),
    Rows("naive/divide.dsl", True, False, FLOATING, False),
)}


def launch_rows(bench, rows, x, v, config, between=np.nan, source=None, grid=None):
    """The memory image of the output's rows. Between the rows of x lies `between`;
    what lies between those of the output must stay."""
    m, n = x.shape
    d, stride = config.dtype, n + config.pad
    spaced = np.full((m, stride), between if d in FLOATS else 77)
    image = image_of(spaced, d).reshape(m, stride)
    image[:, :n] = image_of(x, d).reshape(m, n)
    xb = bench.buffer(d, m * stride, offset=config.offsets[0])
    xb.write(image)
    vector = [bench.buffer(d, m, v, offset=config.offsets[1])] if rows.vector else []
    width, ys = (1, 1) if rows.one_a_row else (n, n + config.pad)
    yb = bench.buffer(d, m * ys, offset=config.offsets[1])
    before = yb.raw().reshape(m, ys)
    strides = [stride] if rows.one_a_row else [ys, stride]
    jit = bench.jit_once(source or example(rows.file), file=rows.file, num_warps=config.warps,
                         defines={"BLOCK": config.block}, types={"T": d})
    jit.launch(yb, xb, *vector, *strides, m, n, grid=grid)
    after = yb.raw().reshape(m, ys)
    assert after[:, width:].tobytes() == before[:,
                                                width:].tobytes(), f"{config}: elements between the rows were written"
    return np.ascontiguousarray(after[:, :width])


def seen(x, dtype):
    """x as a kernel sees it: rounded to the type, as float64 or the integer type."""
    return decode(image_of(x, dtype), dtype).reshape(np.shape(x))
