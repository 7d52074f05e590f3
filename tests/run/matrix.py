"""matrix.py - matrices in a device's memory, for kernels over rows: NaN (or 77) between the rows of what is read,
poison between the rows of what is written, which must stay; and the configurations that every kernel over rows is run
in.
"""
from collections import namedtuple

import numpy as np

from fsc import decode, encode

Shape = namedtuple("Shape", "dtype rows cols warps pad")
# Every type with every number of warps; lengths around powers of two and the 32 lanes, far from both, and 1.
SHAPES = [Shape("fp32", 1, 1, 1, 0), Shape("fp16", 3, 31, 4, 1), Shape("bf16", 2, 33, 8, 7),
          Shape("fp32", 3, 127, 8, 0), Shape("fp16", 2, 129, 1, 3), Shape("bf16", 3, 781, 4, 0),
          Shape("fp32", 2, 1025, 4, 7), Shape("fp16", 2, 1024, 8, 0)]


class Matrix:
    """rows × cols of a dtype; x: the numbers, None for an output. .seen is x as the kernel sees it, in float64."""

    def __init__(self, bench, dtype, shape, x=None, pad=0):
        self.rows, self.cols = shape
        self.dtype, self.stride = dtype, self.cols + pad
        self.buffer = bench.buffer(dtype, self.rows * self.stride)
        self.before = self.buffer.raw().reshape(self.rows, self.stride)
        if x is not None:
            between = np.nan if dtype[0] in "fb" else 77
            self.before = encode(np.full((self.rows, self.stride), between), dtype).reshape(self.rows, self.stride)
            self.before[:, :self.cols] = encode(x, dtype).reshape(shape)
            self.buffer.write(self.before)
        self.seen = self.decoded(self.before)

    def decoded(self, image):
        return decode(np.ascontiguousarray(image[:, :self.cols]), self.dtype).reshape(self.rows, self.cols)

    def read(self):
        after = self.buffer.raw().reshape(self.rows, self.stride)
        same = after[:, self.cols:].tobytes() == self.before[:, self.cols:].tobytes()
        assert same, "elements between the rows were written"
        return self.decoded(after)


def depth(n, warps):
    """How many additions a sum over a tile of n elements has in a row: within a thread, then across threads."""
    return np.ceil(np.log2(n + 1)) + n / (32 * warps) + 2
