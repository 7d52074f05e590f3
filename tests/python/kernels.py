"""kernels.py - what the tests of the Python package share: kernels, arrays that speak one protocol each,
where softmax.dsl is."""
import os

import numpy as np

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dsl_examples")
SOFTMAX = os.path.join(EXAMPLES, "softmax.dsl")

SCALE = """
@kernel(grid=(cdiv(n, B),), B=min(next_power_of_2(n), 1024))
def scale(y: *T[n], x: *T[n], n: i32, f: fp32 = 0.5, B: constexpr = 256, T: dtype = fp32):
    i = program_id(0) * B + arange(0, B)
    store(y + i, (load(x + i, mask=i < n).to(fp32) * f).to(T), mask=i < n)
"""
COPY = """
@kernel(grid=(cdiv(n, 64),))
def copy(y: *T[n], x: *T[n], n: i64, T: dtype = fp32):
    i = program_id(0) * 64 + arange(0, 64)
    store(y + i, load(x + i, mask=i < n), mask=i < n)
"""
ASKS = """
@kernel(grid=(1,), ROOM=max_shared())
def asks(y: *i32, ROOM: constexpr = 0):
    store(y, ROOM)
"""
TOLD = """
@kernel(grid=(cdiv(n, 16 if T == fp32 else 64),), B=1024 // T.primitive_bitwidth)
def told(y: *i32[n], x: *T[n], n: i32, B: constexpr = 8, T: dtype = i8):
    i = program_id(0) * B + arange(0, B)
    store(y + i, 100 * B + num_programs(0) + load(x + i, mask=i < n).to(i32), mask=i < n)
"""
TRANSPOSE = """
@kernel(grid=(n, m))
def transpose(y: *fp32[m:sy, n:ty], x: *fp32[n:sx, m:tx], n: i32, m: i32, sx: i32, tx: i32, sy: i32, ty: i32):
    i = program_id(0)
    j = program_id(1)
    store(y + j * sy + i * ty, load(x + i * sx + j * tx))
"""
NO_RULE = """
@kernel
def mark(y: *i32, first: i32, value: u64):
    i = program_id(0) + 4 * program_id(1)
    store(y + i, first + i + (value >> 60).to(i32))
"""
BEYOND = """
@kernel(grid=(1,))
def beyond(y: *fp32[n], n: i32):
    i = arange(0, 64)
    store(y + i, i.to(fp32))
"""
WRONG = """
@kernel(grid=(1,))
def wrong(y: *T, T: dtype = fp32):
    store(y + arange(0, 4), load(y + arange(0, 4)) % load(y + arange(0, 8)))
"""
TRITON = """
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out_ptr + i, (tl.load(x_ptr + i, mask=mask) + tl.load(y_ptr + i, mask=mask)) * factor, mask=mask)
"""
NESTED = """
import triton
import triton.language as tl


class Settings:
    BLOCK = 128


def make():
    @triton.jit
    def nested(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), twice(3.0))

    return nested


@triton.jit
def twice(x):
    return x * 2


@triton.jit
def defaults(x, n: tl.int32 = Settings.BLOCK, B: tl.constexpr = Settings.BLOCK, U: tl.constexpr = 2):
    tl.store(x + tl.arange(0, B), n * U)


@triton.jit
def called(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), twice(1.0))


@triton.jit
def caller(x, B: tl.constexpr):
    called(x, B)


def plain(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 5.0)


made = triton.jit(plain)


@triton.jit
def broken(x):
    with Settings():
        raise ValueError
"""
SAME = """
@kernel(grid=(rows,), SAME=y == x, BLOCK=next_power_of_2(n), num_warps={warps})
def twice(y: *fp32[rows, n], x: *fp32[rows, n], rows: i32, n: i32, SAME: constexpr = False, BLOCK: constexpr = 32):
    i = arange(0, BLOCK)
    v = load(x + program_id(0) * n + i, mask=i < n)
    store(y + program_id(0) * n + i, -v if SAME else 2.0 * v, mask=i < n)
"""

ADD_IN_PLACE = """
@kernel(grid=(cdiv(n, 64),))
def add_in_place(y: *fp32[n], x: *fp32[n], n: i32):
    i = program_id(0) * 64 + arange(0, 64)
    store(y + i, load(y + i, mask=i < n) + load(x + i, mask=i < n), mask=i < n)
"""


def softmax_of(x):
    e = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class OnlyInterface:
    """NumPy's array interface and nothing else."""

    def __init__(self, array):
        self.array = array

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


class OnlyDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        assert stream is None, "a stream for memory of the host"
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class LikeTorch:
    """What a tensor has that is no torch.Tensor."""

    class Device:
        type, index = "cpu", None

    def __init__(self, array):
        self.array, self.device = array, self.Device()
        self.dtype, self.shape = f"torch.{array.dtype}", array.shape

    def data_ptr(self):
        return self.array.ctypes.data

    def stride(self):
        return tuple(s // self.array.itemsize for s in self.array.strides)
