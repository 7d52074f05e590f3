"""numerics.py - the worst error in ulp of every mathematical function: the tables of numerics.md, through libfsc.

    numerics.py [--device cpu,cuda] [--every N] [--jobs N] [--out FILE] [--seconds LIMIT] [WORD …]

fp16 and bf16: all 65,536 patterns. fp32: every N-th of the 2^32 patterns (1: all). fp64: special values and 88,000
others. NaN, infinity and the signs of zeros are judged as well, at every pattern; where one is wrong the error is
infinite.

References. fp32: the formulas of test_math.py in float64, by NumPy, computed once for all devices; erf and erfc are the
C library's where they are neither constant nor the series' first three terms. They are themselves held to 0.001 ulp of
fp32 against the same formulas in long double (the C library's), at a 4,093rd of the arguments, and the worst argument
of each slice is judged by long double alone. fp64: long double. fp16, bf16: float64.

Method: worker processes take slices of a function's patterns, one device of each kind in every process; a row is
printed when its slices have ended, and a function that a time limit cuts off has none.
"""
import argparse
import math
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, wait

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("FSC_CACHE_DIR", "off")  # every case compiles; nothing is written into the user's cache
import fsc  # noqa: E402
from case import Bench  # noqa: E402
from test_math import FUNCTIONS, UNARY, every_or_spread, ulp_errors  # noqa: E402

SLICE = 1 << 24  # patterns a task
PART = 1 << 20   # patterns a launch
BLOCK = 1 << 15  # patterns judged at once: what is computed of them stays in the cache
SAMPLE = 4093    # of so many references one is compared with long double
TYPES = ("fp16", "bf16", "fp64")
EXPONENT = np.int64(0x7FF << 52)
LEAST_EXPONENT = np.int64(1023 - 126 << 52)  # of a normal fp32
OVER = 2.0 ** 128                            # what infinity stands for beside the largest fp32

# ---- References ------------------------------------------------------------------------------------------------------


def erf64(x):
    """float64 → float64."""
    a = np.abs(x)
    r = x * (2 / math.sqrt(math.pi)) * (1 - a * a / 3 + a ** 4 / 10)  # the next term is a^6 / 42
    r = np.where(a > 6, np.copysign(1.0, x), r)  # 1 - erf(6) is 2e-17
    between = np.flatnonzero((a > 2.0 ** -7) & (a <= 6))
    r[between] = [math.erf(v) for v in x[between].tolist()]
    return r


def erfc64(x):
    """float64 → float64."""
    r = np.where(x > 0, 0.0, 2.0)  # erfc(30) is 1e-393
    r[np.isnan(x)] = np.nan
    near = np.abs(x) < 2.0 ** -7
    r[near] = 1 - erf64(x[near])
    between = np.flatnonzero(~near & (x > -7) & (x < 30))
    r[between] = [math.erfc(v) for v in x[between].tolist()]
    return r


NOT_OF_NUMPY = {"erf(x)": erf64, "erfc(x)": erfc64}


def reference(expression, x):
    """x in float64 or long double; the result in that type."""
    if x.dtype == np.float64 and expression in NOT_OF_NUMPY:
        return NOT_OF_NUMPY[expression](x)
    return FUNCTIONS[expression][0](x)


# ---- The judge -------------------------------------------------------------------------------------------------------


def judge(got, want):
    """Errors of float32 `got` in units in the last place of float64 `want`; infinite where NaN,
    infinity or a sign is wrong.

    Infinity counts as 2^128, one step beside the largest number, where `want` is below that.
    """
    value = got.astype(np.float64)
    exponent = np.maximum(want.view(np.int64) & EXPONENT, LEAST_EXPONENT)
    inverse = EXPONENT - exponent + np.int64(2 * 1023 + 23 - 2047 << 52)  # 1 / ulp
    special = ~np.isfinite(value)
    is_plain = not special.any()
    if not is_plain:
        value = np.where(np.isinf(value), np.copysign(np.maximum(np.abs(want), OVER), value), value)
    errors = np.abs(value - want)
    errors *= inverse.view(np.float64)
    if not is_plain or not np.isfinite(errors.sum()):
        errors[value == want] = 0
        nan, got_nan = np.isnan(want), np.isnan(got)
        errors[nan & got_nan] = 0
        errors[nan != got_nan] = np.inf
    wrong = np.signbit(got) != np.signbit(want)
    if wrong.any():
        errors[wrong & ~np.isnan(want) & (np.signbit(got) != np.signbit(want.astype(np.float32)))] = np.inf
    return errors


def prove_judge():
    """What the judge must accept and what it must not."""
    big, tiny = np.finfo(np.float32).max, 2.0 ** -149
    nan, inf = np.nan, np.inf
    known = [(1, 1, 0), (1 + 2.0 ** -23, 1, 1), (-2, 2, inf), (0.0, -0.0, inf), (-0.0, -0.0, 0), (tiny, 0, 1),
             (0, tiny / 4, 0.25), (nan, nan, 0), (nan, 1, inf), (1, nan, inf), (inf, nan, inf), (inf, inf, 0),
             (-inf, inf, inf), (big, inf, inf), (inf, 1e300, 0), (inf, OVER * (1 - 2.0 ** -26), 0.25), (inf, big, 1),
             (big, OVER, 0.5), (inf, 1.0, OVER * 2.0 ** 23)]
    got, want, errors = (np.array(column, np.float64) for column in zip(*known))
    found = judge(got.astype(np.float32), want)
    wrong = np.flatnonzero(np.abs(np.minimum(found, 1e99) - np.minimum(errors, 1e99)) > 1e-6 * np.minimum(errors, 1e99))
    assert not len(wrong), f"the judge: {[(known[i], found[i]) for i in wrong]}"


# ---- Workers ---------------------------------------------------------------------------------------------------------

devices = {}  # of this process, by name
kernels = {}  # by (device, expression, dtype)
buffers = {}  # by device


def start_worker(names):
    np.seterr(all="ignore")
    for name in names:
        devices[name] = fsc.Device("cpu:1" if name == "cpu" else name)
        buffers[name] = [fsc.Buffer(devices[name], "fp32", PART) for _ in range(2)]


def kernel(name, expression, dtype):
    key = name, expression, dtype
    if key not in kernels:
        kernels[key] = fsc.Jit(devices[name], UNARY.format(expression=expression), types={"T": dtype, "R": dtype})
    return kernels[key]


def results_of(name, expression, x):
    """The function's float32 results for float32 x, PART of them at most."""
    a, r = buffers[name]
    padded = x if len(x) == PART else np.resize(x, PART)
    a.write(padded)
    kernel(name, expression, "fp32").launch(r, a, PART)
    return r.raw()[:len(x)]


def in_ulps(value, exact):
    """|value - exact| in units in the last place of a fp32, in long double."""
    exponent = np.frexp(exact)[1] - 1
    return np.abs(value - exact) / np.ldexp(np.longdouble(1), np.maximum(exponent, -126) - 23)


def judge_again(expression, worst):
    """The worst argument's error by long double, where no infinity is part of it."""
    errors, x, got = worst
    if 0 < errors < math.inf and math.isfinite(got):
        errors = float(in_ulps(got, reference(expression, np.array([x], np.longdouble)))[0])
    return errors, x


def check_reference(expression, x, want):
    exact = reference(expression, x.astype(np.longdouble))
    same = (want == exact) | (np.isnan(want) & np.isnan(exact)) | (in_ulps(want, exact) < 1e-3)
    same |= (np.minimum(np.abs(want), np.abs(exact)) > OVER * 2) & (np.sign(want) == np.sign(exact))
    assert same.all(), (f"the reference of {expression} is wrong at {x[~same][0]!r}: {want[~same][0]!r}, "
                        f"not {exact[~same][0]!r}")


def judge_slice(names, expression, first, count, every):
    """{device: (worst error, its argument)} over patterns number first to first + count, `every` apart."""
    worst = {name: (0.0, 0.0, 0.0) for name in names}
    for start in range(first, first + count, PART):
        index = np.arange(start, min(start + PART, first + count), dtype=np.uint64)
        x32 = (index * np.uint64(every)).astype(np.uint32).view(np.float32)
        got = {name: results_of(name, expression, x32) for name in names}
        for low in range(0, len(x32), BLOCK):
            x = x32[low:low + BLOCK].astype(np.float64)
            want = reference(expression, x)
            check_reference(expression, x[start % 97::SAMPLE], want[start % 97::SAMPLE])
            for name in names:
                errors = judge(got[name][low:low + BLOCK], want)
                i = int(np.argmax(errors))
                if errors[i] > worst[name][0]:
                    worst[name] = float(errors[i]), float(x[i]), float(got[name][low + i])
    for name in names:
        assert all(b.guards_intact() for b in buffers[name]), f"{expression} on {name}: a guard band was overwritten"
    return {name: judge_again(expression, worst[name]) for name in names}


def judge_type(name, expression, dtype):
    """(worst error, its argument) of a type that is not fp32."""
    x = every_or_spread(dtype)
    with Bench(devices[name]) as bench:
        a, r = bench.buffer(dtype, len(x), x), bench.buffer(dtype, len(x))
        kernel(name, expression, dtype).launch(r, a, len(x))
        got = r.read()
    want = reference(expression, x.astype(np.longdouble) if dtype == "fp64" else x)
    try:
        errors = ulp_errors(got, want, dtype)
    except AssertionError as wrong:
        print(f"{expression} of {dtype} on {name}: {wrong}", file=sys.stderr, flush=True)
        return math.inf, math.nan
    i = int(np.argmax(errors))
    return float(errors[i]), float(x[i])


# ---- The table -------------------------------------------------------------------------------------------------------


class Row:
    """A function's tasks, and what they found: {(device, dtype): (error, argument)}."""

    def __init__(self, pool, names, expression, every):
        self.expression, self.names = expression, names
        total = (2 ** 32 + every - 1) // every
        self.others = {(n, t): pool.submit(judge_type, n, expression, t) for n in names for t in TYPES}
        self.slices = [pool.submit(judge_slice, names, expression, first, min(SLICE, total - first), every)
                       for first in range(0, total, SLICE)]

    def finish(self, seconds):
        """False: not all within that time."""
        tasks = [*self.others.values(), *self.slices]
        if wait(tasks, timeout=max(0, seconds)).not_done:
            return False
        self.worst = {key: task.result() for key, task in self.others.items()}
        for name in self.names:
            self.worst[name, "fp32"] = max((s.result()[name] for s in self.slices), key=lambda w: w[0])
        return True

    def text(self):
        cells = [f"`{self.expression}`"]
        for name in self.names:
            error = {t: self.worst[name, t] for t in ("fp32",) + TYPES}
            cells += [f"{error['fp32'][0]:.3f}", f"{error['fp32'][1]:.9g}", f"{error['fp16'][0]:.3f}",
                      f"{error['bf16'][0]:.3f}", f"{error['fp64'][0]:.3f}", f"{error['fp64'][1]:.17g}"]
        return "| " + " | ".join(cells) + " |"

    def faults(self):
        bound = FUNCTIONS[self.expression][1]
        limits = {"fp32": bound, "fp64": bound, "fp16": min(bound, 1), "bf16": min(bound, 1)}
        return [f"BEYOND its bound: {self.expression} of {t} on {name}, {error} ulp, not {limits[t]}, at {at!r}"
                for (name, t), (error, at) in self.worst.items() if not error <= limits[t]]


def heading(names):
    titles = ["function"]
    for name in names:
        titles += [f"{name}: fp32", "at", "fp16", "bf16", "fp64", "at"]
    return "| " + " | ".join(titles) + " |\n|" + " --- |" * len(titles)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--device", default="cpu", help="cpu, cuda, emu, or several, with commas between")
    p.add_argument("--every", type=int, default=4099, help="of the fp32 patterns; 1: all")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--seconds", type=float, default=1e7,
                   help="end after that many, without the functions that are not finished")
    p.add_argument("--out", help="write the table there, too, row by row")
    p.add_argument("words", nargs="*")
    o = p.parse_args()
    np.seterr(all="ignore")
    prove_judge()
    names, start, failed = o.device.split(","), time.time(), 0
    chosen = [e for e in FUNCTIONS if not o.words or any(w in e for w in o.words)]
    pool = ProcessPoolExecutor(o.jobs, initializer=start_worker, initargs=(names,))
    rows = [Row(pool, names, e, o.every) for e in chosen]
    with open(o.out or os.devnull, "w", encoding="utf-8") as out:
        def say(line, file=out):
            print(line, flush=True)
            print(line, file=file, flush=True)

        say(heading(names))
        while rows and rows[0].finish(start + o.seconds - time.time()):
            row = rows.pop(0)
            say(row.text())
            print(f"{row.expression}: {time.time() - start:.1f} s after the start", file=sys.stderr, flush=True)
            for fault in row.faults():
                failed = 1
                print(fault, flush=True)
        for row in rows:
            print(f"out of time: {row.expression} has no row", flush=True)
    pool.shutdown(wait=True, cancel_futures=True)
    return 1 if failed or rows else 0


if __name__ == "__main__":
    sys.exit(main())
