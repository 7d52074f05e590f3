"""The three kernels of the documents that fsc began from, taken from their text where it is at hand,
and run as written.

FSC_SEEDS names the folder (default: shared/seeds beside the checkout). Without it these cases are skipped; what the
kernels do is tested on independently written ones in test_softmax.py and test_tiles.py.
"""
import glob
import os
import re

import numpy as np

from case import EXAMPLES, U, Skip, case, close

FOLDERS = [os.environ.get("FSC_SEEDS", ""), os.path.join(EXAMPLES, "..", "..", "shared", "seeds")]


def function_at(lines):
    """A decorated function: two lines, then all that is blank, indented or closes the parameters."""
    end = 2
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " )"):
        end += 1
    return "\n".join(lines[:end]) + "\n"


def kernel(name, wanted):
    """The source of a decorated function that holds the text `wanted`,
    from its decorator to the next unindented line."""
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(folder, "*"))) if folder else []:
            with open(path, encoding="utf-8", errors="replace") as f:
                text = f.read()
            for found in re.finditer(r"^@triton\.jit\ndef %s\(" % name, text, re.M):
                source = function_at(text[found.start():].splitlines())
                if wanted in source:
                    return source
    raise Skip("the documents are not at hand")


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def rows(shape, seed=0):
    return np.float32(np.random.default_rng(seed).standard_normal(shape)).astype(np.float64)


@case(shape=[(1823, 781), (5, 1024), (3, 33)], programs=[1, 7, 432])
def seed_persistent(bench, shape, programs):
    m, n = shape
    x = rows(shape)
    block = 1 << (n - 1).bit_length()
    a, y = bench.buffer("fp32", m * n, x.ravel()), bench.buffer("fp32", m * n)
    jit = bench.jit(kernel("softmax_kernel", "num_stages"), file="tutorial.py",
                    defines=dict(BLOCK_SIZE=block, num_stages=4), num_warps=8)
    jit.launch(y, a, n, n, m, n, grid=[min(programs, m)])
    close(y.read().reshape(shape), softmax(x), 64 * U, 2.0 ** -126, "the tutorial's kernel")


@case(shape=[(256, 1024), (16, 700), (4, 1)])
def seed_one_row(bench, shape):
    m, n = shape
    x = rows(shape)
    a, y = bench.buffer("fp32", m * n, x.ravel()), bench.buffer("fp32", m * n)
    source = kernel("softmax_kernel", "row_max = tl.max(row, axis=0)")
    bench.jit(source, file="course.py",
              defines=dict(BLOCK_SIZE=1 << (n - 1).bit_length())).launch(y, a, n, n, n, grid=[m])
    close(y.read().reshape(shape), softmax(x), 64 * U, 2.0 ** -126, "the course's kernel")


@case(n=[256, 700, 768, 781], block=[256, 1024])
def seed_two_paths(bench, n, block):
    """Beyond one block the source pads its second pass with 0: right only where BLOCK_SIZE divides n_cols."""
    m = 37
    x = rows((m, n))
    a, y = bench.buffer("fp32", m * n, x.ravel()), bench.buffer("fp32", m * n)
    jit = bench.jit(kernel("softmax_forward", "BLOCK_SIZE"), file="blog.py",
                    defines=dict(n_rows=m, n_cols=n, BLOCK_SIZE=block))
    jit.launch(a, y, grid=[m])
    want = softmax(x)
    if n > block and n % block:
        top = x.max(axis=1, keepdims=True)
        padding = (block - n % block) * np.exp(0.0 - top)
        want = np.exp(x - top) / (np.exp(x - top).sum(axis=1, keepdims=True) + padding)
    close(y.read().reshape(m, n), want, 64 * U, 2.0 ** -126, "the blog's kernel, as it is written")
