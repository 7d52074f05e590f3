"""test_examples.py - every example over warps, block sizes, alignments, strides, lengths and types; what
test_differential.py is for the builtins."""
import glob
import os

import numpy as np

import fsc
from case import EXAMPLES, U, ULP, Bench, Skip, case, close, example, must_fail, same_bits
from fsc import decode
from sweep import FLOATS, INTS, ROWS, launch_rows, seen, sweep, sweep_wide
from test_differential import BLOCKS, KERNELS, LENGTHS, SMALLEST, TILE, Elementwise, judge_elementwise, judge_tile
from test_norms import NORMS
from test_rows import FILES

ROW_LENGTHS = [100, 1, 31, 128, 33, 129, 64, 17, 77]
ROW_BLOCKS = [1, 4, 2]  # times the next power of two


def row_configs(rows, all_=False):
    found = (sweep_wide if all_ else sweep)(rows.dtypes, ROW_BLOCKS, ROW_LENGTHS)
    return [c._replace(block=c.block * (1 << (c.n - 1).bit_length())) for c in found]


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def row_data(file, config, m=5):
    """A matrix and a vector, as the kernel sees them. Sums are of small integers, so that any order is exact."""
    rng = np.random.default_rng(config.n)
    shape = (m, config.n)
    whole = config.dtype in INTS or file == "naive/row_sum.dsl"
    signed = config.dtype[0] != "u"
    x = rng.integers(-3 if signed else 0, 4, shape) if whole else rng.standard_normal(shape) * 2
    v = rng.integers(0, 9, m) if whole else rng.uniform(0.5, 9, m)
    return seen(x, config.dtype), seen(v, config.dtype)


def row_want(file, config, x, v):
    """The exact result, and what it may be off by relatively."""
    narrow = 0 if config.dtype == "fp32" else ULP.get(config.dtype, 0)
    x = x.astype(np.float64) if config.dtype in FLOATS else x
    if file.startswith("softmax"):
        return softmax(x), (10 + 2.5 * np.abs(x - x.max(axis=1,
                                                        keepdims=True))) * (4 if "unstable" in file else 1) * U + narrow
    with np.errstate(all="ignore"):
        return {"naive/row_max.dsl": lambda: (x.max(axis=1, keepdims=True), 0),
                "naive/row_sum.dsl": lambda: (x.sum(axis=1, keepdims=True), 0),
                "naive/subtract.dsl": lambda: (x - v[:, None], 0),
                "naive/exp.dsl": lambda: (np.exp(x), narrow or 2 * ULP["fp32"]),
                "naive/divide.dsl": lambda: (x / v[:, None], narrow or 2 * ULP["fp32"])}[file]()


def judge_rows(bench, file, config, source=None, m=5):
    rows = ROWS[file]
    x, v = row_data(file, config, m)
    got = decode(launch_rows(bench, rows, x, v, config, source=source), config.dtype).reshape(len(x), -1)
    want, rtol = row_want(file, config, x, v)
    if rows.exact:
        same_bits(got, seen(want, config.dtype), f"{file} in {config}")
    else:
        close(got, want, rtol, SMALLEST[config.dtype], f"{file} in {config}")
    return got


@case(file=list(ROWS))
def example_rows(bench, file):
    for config in row_configs(ROWS[file]):
        judge_rows(bench, file, config)


@case(slow=True, file=list(ROWS))
def example_rows_wide(bench, file):
    for config in row_configs(ROWS[file], True):
        judge_rows(bench, file, config)


ADD = Elementwise(FLOATS + INTS, ["x + y"], lambda x, y: [x + y])


@case()
def example_add(bench):
    for config in sweep(ADD.dtypes, BLOCKS, LENGTHS):
        judge_elementwise(bench, ADD, config, example("add.dsl").decode())


@case(file=["add.dsl"] + list(ROWS))
def second_device(bench, file):
    """What another device makes of the same inputs: the same bits, or within both bounds together."""
    name = "cpu" if bench.device.name == "emu" else "emu"
    try:
        device = fsc.Device(name)
    except fsc.Error as e:
        raise Skip(f"device {name}: {e}")
    try:
        with Bench(device) as other:
            if file == "add.dsl":
                config = sweep(["fp32"], [256], [1000])[0]
                here, there = (judge_elementwise(b, ADD, config, example("add.dsl").decode())[0]
                               for b in (bench, other))
                same_bits(here, there, f"add on {name}")
                return
            for config in row_configs(ROWS[file])[:2]:
                here, there = (judge_rows(b, file, config) for b in (bench, other))
                _, rtol = row_want(file, config, *row_data(file, config))
                close(here, there, 2 * np.asarray(rtol), 2 * SMALLEST.get(config.dtype, 0),
                      f"{file} on {name} in {config}")
    finally:
        device.close()


# ---- The tests of the tests -------------------------------------------------------------------------------------------


@case()
def every_example_has_a_case(_):
    files = {os.path.relpath(p, EXAMPLES) for p in glob.glob(os.path.join(EXAMPLES, "**", "*.dsl"), recursive=True)}
    known = set(ROWS) | {"add.dsl"}
    # test_random.py, test_atomics.py, test_shape.py
    known |= {"dropout.dsl", "histogram.dsl", "transpose.dsl", "gather_rows.dsl"}
    known |= {"argmax.dsl", "prefix_sum.dsl"}  # test_scan.py
    known |= set(NORMS) | {"column_sum.dsl", "topk.dsl"} | FILES
    # test_losses.py
    known |= {"cross_entropy.dsl", "cross_entropy_backward.dsl", "logsumexp.dsl", "kl_divergence.dsl",
              "sample_top_p.dsl"}
    known |= {"l2_normalize.dsl", "cosine_similarity.dsl", "mean_variance.dsl", "moving_sum.dsl", "rotary.dsl",
              "embedding_backward.dsl",
              "batched_matvec.dsl"}  # test_transforms.py
    known |= {"attention.dsl", "attention_backward.dsl", "attention_delta.dsl", "attention_decode.dsl",
              "attention_merge.dsl", "attention_varlen.dsl", "attention_backward_varlen.dsl"}
    # test_dot.py, test_products.py
    known |= {"matmul.dsl", "matmul_fp8.dsl", "matmul_fp8_blocks.dsl", "matmul_int8.dsl", "matmul_dequantize.dsl",
              "batched_matmul.dsl", "grouped_matmul.dsl", "split_k.dsl", "stream_k.dsl"}
    assert files == known, f"examples without a case, or cases without an example: {sorted(files ^ known)}"


@case()
def differential_checks_can_fail(bench):
    """Kernels with one mistake each, which only one place of the comparison can see."""
    copy, config = KERNELS["copy"], sweep(["fp32"], [128], [100])[0]

    def planted(text, wrong):
        assert text in copy.source
        must_fail(lambda: judge_elementwise(bench, copy, config, copy.source.replace(text, wrong)), wrong)

    planted("S + i, y, mask=m", "S + i, y, mask=i < n + 1")         # one element beyond the mask
    planted("S + i, y, mask=m", "S + i, y * 1.0000001, mask=m")     # one bit
    planted("S + i, y, mask=m", "S + i, y, mask=i < n - 1")         # one element too few
    planted("S + i, y, mask=m", "S + i, where(y == 0, 0.0, y), mask=m")  # the sign of a zero
    tile = sweep(["i32"], [(8, 8)], [0])[0]
    must_fail(lambda: judge_tile(bench, tile, TILE.replace("sum(v, 0)", "sum(v, 0) + (arange(0, B) == 3).to(i32)")),
              "one of the sums")
    rows = row_configs(ROWS["naive/row_max.dsl"])[0]
    # NaN lies between the rows
    wrong = example("naive/row_max.dsl").decode().replace("cols < n_cols", "cols < n_cols + 1")
    must_fail(lambda: judge_rows(bench, "naive/row_sum.dsl", rows._replace(pad=3), wrong.replace("max(v", "sum(v")),
              "a mask too wide")
    wrong = example("softmax.dsl").decode().replace("e / sum", "e * 1.000003 / sum")
    must_fail(lambda: judge_rows(bench, "softmax.dsl", rows, wrong), "3e-6 too much")
