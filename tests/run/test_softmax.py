"""Softmax in all its forms: the examples over sizes, types, strides, alignments and adversarial rows."""
import numpy as np

from case import ULP, U, case, close, example
from fsc import Error, decode, encode

SIZES = [1, 2, 31, 32, 33, 127, 128, 129, 255, 257, 781, 1023, 1024, 1025, 4096, 4097]


def reference(x):
    with np.errstate(invalid="ignore", over="ignore"):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)


def judge(got, x, dtype, what):
    """x: what the kernel saw, as float64. Relative (10 + 2.5·|x − m|)·u in fp32; half an ulp more in narrow types."""
    want = reference(x)
    with np.errstate(invalid="ignore"):
        distance = np.abs(x - x.max(axis=1, keepdims=True))
    distance = np.where(np.isfinite(distance), np.minimum(distance, 120), 0)
    rtol = (10 + 2.5 * distance) * U + (0 if dtype == "fp32" else ULP[dtype])
    smallest = {"fp32": 2.0 ** -126, "fp16": 2.0 ** -24, "bf16": 2.0 ** -126}[dtype]
    close(got, want, rtol, smallest, what)
    if dtype == "fp32":
        finite = np.isfinite(want).all(axis=1)
        sums = got[finite].sum(axis=1)
        assert (np.abs(sums - 1) <= 1e-6).all(), f"{what}: a row sums to {sums[np.argmax(np.abs(sums - 1))]!r}"


def launch(bench, source, x, dtype, y_stride=None, x_stride=None, offset=0, **options):
    """x as float64 rows → the kernel's output as float64, and what the kernel saw."""
    rows, cols = x.shape
    xs, ys = x_stride or cols, y_stride or cols
    # NaN between the rows: must never be read into a result
    image = encode(np.full((rows, xs), np.nan), dtype).reshape(rows, xs)
    image[:, :cols] = encode(x, dtype).reshape(rows, cols)
    xb = bench.buffer(dtype, rows * xs, offset=offset)
    xb.write(image)
    yb = bench.buffer(dtype, rows * ys, offset=offset)
    before = yb.raw().reshape(rows, ys)
    bench.run(source, yb, xb, ys, xs, rows, cols, **options)
    after = yb.raw().reshape(rows, ys)
    assert (after[:, cols:].tobytes() == before[:, cols:].tobytes()), "elements between the rows were written"
    return decode(np.ascontiguousarray(after[:, :cols]),
                  dtype).reshape(rows, cols), decode(np.ascontiguousarray(image[:, :cols]), dtype).reshape(rows, cols)


@case(name=["softmax.dsl", "softmax_persistent.dsl", "softmax_tiled.dsl"], dtype=["fp32", "fp16", "bf16"], n=SIZES)
def softmax_sizes(bench, name, dtype, n):
    rng = np.random.default_rng(n)
    got, seen = launch(bench, example(name), rng.standard_normal((5, n)), dtype, file=name)
    judge(got, seen, dtype, f"{name} {dtype} {n}")


@case(dtype=["fp32", "fp16", "bf16"])
def softmax_flagship(bench, dtype):
    rng = np.random.default_rng(0)
    got, seen = launch(bench, example("softmax.dsl"), rng.standard_normal((1823, 781)), dtype)
    judge(got, seen, dtype, f"1823x781 {dtype}")


@case(slow=True, n=[8192, 12672, 16384, 32768, 65537])
def softmax_long_rows(bench, n):
    rng = np.random.default_rng(n)
    got, seen = launch(bench, example("softmax.dsl"), rng.standard_normal((3, n)), "fp32")
    judge(got, seen, "fp32", f"row of {n}")


@case(name=["softmax.dsl", "softmax_persistent.dsl", "softmax_tiled.dsl"], n=[33, 781, 1500])
def softmax_strides(bench, name, n):
    rng = np.random.default_rng(n)
    x = rng.standard_normal((7, n))
    got, seen = launch(bench, example(name), x, "fp32", y_stride=n + 7, x_stride=n + 16 - n % 16)
    judge(got, seen, "fp32", f"strided {n}")
    got, seen = launch(bench, example(name), x, "fp32", offset=1)  # base not a multiple of 16 bytes
    judge(got, seen, "fp32", f"misaligned {n}")


def special_rows(n):
    rng = np.random.default_rng(7)
    rows = {"equal": np.full(n, 0.25), "zero": np.zeros(n), "minus zero": np.full(n, -0.0),
            "huge": rng.standard_normal(n), "subnormal": np.full(n, 1e-40), "inf": rng.standard_normal(n),
            "nan": rng.standard_normal(n), "all -inf": np.full(n, -np.inf), "some -inf": rng.standard_normal(n),
            "wide": np.linspace(-80, 0, n), "large": 1000 + rng.standard_normal(n), "lowest": np.full(n, -3e38)}
    rows["huge"][n // 2] = 3e38
    rows["inf"][n // 3] = np.inf
    rows["nan"][n - 1] = np.nan
    rows["some -inf"][::2] = -np.inf
    return rows


@case(name=["softmax.dsl", "softmax_persistent.dsl"], n=[32, 129, 781])
def softmax_special(bench, name, n):
    rows = special_rows(n)
    x = np.stack([np.float32(r).astype(np.float64) for r in rows.values()])
    got, seen = launch(bench, example(name), x, "fp32")
    want = reference(seen)
    for i, what in enumerate(rows):
        judge(got[i:i + 1], seen[i:i + 1], "fp32", what) if what != "nan" else None
    nan = list(rows).index("nan")
    was_lost = np.isnan(got[nan]).all() != np.isnan(want[nan]).all() and not np.isnan(got[nan]).any()
    assert not was_lost, "a NaN in the row was lost"


@case(n=[2, 100])
def softmax_unstable(bench, n):
    """Right on small numbers; overflows on 1000, 1001, 1002 as it is there to show."""
    rng = np.random.default_rng(n)
    got, seen = launch(bench, example("softmax_unstable.dsl"), rng.standard_normal((3, n)), "fp32")
    close(got, reference(seen), 64 * U, 0, "small numbers")
    got, _ = launch(bench, example("softmax_unstable.dsl"), np.array([[1000.0, 1001.0, 1002.0]]), "fp32")
    assert np.isnan(got).all(), f"inf / inf is NaN, not {got}"


@case(n=[1, 100, 781, 1024])
def softmax_in_place(bench, n):
    rng = np.random.default_rng(n)
    x = np.float32(rng.standard_normal((9, n))).astype(np.float64)
    b = bench.buffer("fp32", 9 * n, x)
    bench.run(example("softmax.dsl"), b, b, n, n, 9, n)
    judge(b.read().reshape(9, n), x, "fp32", "in place")


@case(n=[1, 100, 781, 1024, 3000])
def softmax_naive(bench, n):
    rows = 6
    rng = np.random.default_rng(n)
    x = np.float32(rng.standard_normal((rows, n))).astype(np.float64)
    xb, zb, nb, yb = (bench.buffer("fp32", rows * n) for _ in range(4))
    mb, db = bench.buffer("fp32", rows), bench.buffer("fp32", rows)
    xb.write(x.astype(np.float32))
    bench.run(example("naive/row_max.dsl"), mb, xb, n, rows, n)
    bench.run(example("naive/subtract.dsl"), zb, xb, mb, n, n, rows, n)
    bench.run(example("naive/exp.dsl"), nb, zb, n, n, rows, n)
    bench.run(example("naive/row_sum.dsl"), db, nb, n, rows, n)
    bench.run(example("naive/divide.dsl"), yb, nb, db, n, n, rows, n)
    judge(yb.read().reshape(rows, n), x, "fp32", "naive chain")


@case()
def softmax_no_rows(bench):
    b = bench.buffer("fp32", 16, np.zeros(16))
    bench.run(example("softmax.dsl"), b, b, 16, 16, 0, 16)
    assert (b.read() == 0).all()


@case()
def softmax_contract(bench):
    """A buffer that is too small is refused before anything runs."""
    x, y = bench.buffer("fp32", 4 * 100, np.zeros(400)), bench.buffer("fp32", 4 * 100 - 1)
    before = y.raw().tobytes()
    try:
        bench.run(example("softmax.dsl"), y, x, 100, 100, 4, 100)
    except Error as e:
        assert e.status == "FSC_ERROR_CONTRACT", e
        assert y.raw().tobytes() == before
        return
    raise AssertionError("a short buffer was accepted")


@case()
def softmax_negative_extent(bench):
    """Compiled code may take an extent for not negative, so the launch refuses a negative one, sizes known or not."""
    b = bench.buffer("fp32", 64, np.zeros(64))
    for buffer in (b, (b.address, "fp32", 0)):
        try:
            bench.run(example("softmax.dsl"), buffer, buffer, 16, 16, 4, -3, defines={"BLOCK": 16})
        except Error as e:
            assert e.status == "FSC_ERROR_CONTRACT", e
        else:
            raise AssertionError("a negative extent was accepted")


@case(slow=True, only="cuda")
def softmax_beyond_2_31(bench):
    """Rows that start beyond 2^31 elements: offsets must not wrap."""
    rows, n, stride = 3, 1000, 2 ** 30 + 16
    x, y = bench.buffer("fp32", (rows - 1) * stride + n), bench.buffer("fp32", rows * n)
    import ctypes
    import fsc
    rng = np.random.default_rng(1)
    data = np.float32(rng.standard_normal((rows, n)))
    for r in range(rows):
        row = np.ascontiguousarray(data[r])
        fsc.check(fsc.lib.fsc_memory_write(bench.device.handle, ctypes.c_void_p(x.address + r * stride * 4),
                                           row.ctypes.data, row.nbytes))
    bench.run(example("softmax.dsl"), y, x, n, stride, rows, n)
    judge(y.read().reshape(rows, n), data.astype(np.float64), "fp32", "offsets beyond 2^31")
