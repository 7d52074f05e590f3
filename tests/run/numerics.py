"""numerics.py - the worst error in ulp of every mathematical function: the tables of docs/numerics.md, through libfsc.

    numerics.py [--device cpu] [--every N] [--seconds LIMIT] [WORD …]

fp16 and bf16: all 65,536 patterns. fp32: every N-th of the 2^32 patterns (1: all). fp64: special values and 88,000 others.
References: float64 formulas for types up to fp32, long double for fp64, as in test_math.py, whose judge this is, too.
"""
import argparse
import math
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fsc  # noqa: E402
from case import Bench  # noqa: E402
from test_math import FUNCTIONS, UNARY, every_or_spread, ulp_errors  # noqa: E402

CHUNK = 1 << 22
erf64 = np.vectorize(math.erf, otypes=[np.float64])


class Worst:
    """The largest error seen and its argument."""

    def __init__(self):
        self.ulps, self.at, self.count = 0.0, 0.0, 0

    def see(self, got, want, x, dtype):
        errors = ulp_errors(got, want, dtype)
        i = int(np.argmax(errors))
        self.count += len(x)
        if errors[i] > self.ulps:
            self.ulps, self.at = float(errors[i]), float(x[i])


def chunks(dtype, every):
    if dtype != "fp32":
        yield every_or_spread(dtype)
        return
    total = (2 ** 32 + every - 1) // every
    for first in range(0, total, CHUNK):
        index = np.arange(first, min(first + CHUNK, total), dtype=np.uint64) * np.uint64(every)
        with np.errstate(invalid="ignore"):
            yield index.astype(np.uint32).view(np.float32).astype(np.float64)


def measure(device, expression, dtype, every):
    reference = FUNCTIONS[expression][0]
    worst = Worst()
    with Bench(device) as bench:
        jit = bench.jit(UNARY.format(expression=expression), types={"T": dtype, "R": dtype})
        for x in chunks(dtype, every):
            with Bench(device) as part:
                a, r = part.buffer(dtype, len(x), x), part.buffer(dtype, len(x))
                jit.launch(r, a, len(x))
                got = r.read()
            with np.errstate(all="ignore"):
                if dtype == "fp64":
                    want = reference(x.astype(np.longdouble))
                else:
                    want = erf64(x) if expression == "erf(x)" else reference(x)
            worst.see(got, want, x, dtype)
    return worst


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--device", default="cpu")
    p.add_argument("--every", type=int, default=4099, help="of the fp32 patterns; 1: all")
    p.add_argument("--seconds", type=float, default=1e9, help="start no function after that many")
    p.add_argument("words", nargs="*")
    o = p.parse_args()
    device = fsc.Device(o.device)
    start = time.time()
    print("| function | fp32 | at | fp16 | bf16 | fp64 | at |\n| --- | --- | --- | --- | --- | --- | --- |")
    for expression, (_, bound) in FUNCTIONS.items():
        if (o.words and not any(w in expression for w in o.words)) or time.time() - start > o.seconds:
            continue
        w = {d: measure(device, expression, d, o.every) for d in ("fp32", "fp16", "bf16", "fp64")}
        print(f"| `{expression}` | {w['fp32'].ulps:.3f} | {w['fp32'].at:.9g} | {w['fp16'].ulps:.3f} | {w['bf16'].ulps:.3f} | "
              f"{w['fp64'].ulps:.3f} | {w['fp64'].at:.17g} |", flush=True)
        assert max(w[d].ulps for d in ("fp32", "fp64")) <= bound, f"{expression}: beyond {bound} ulp"
        assert max(w[d].ulps for d in ("fp16", "bf16")) <= 1, f"{expression}: beyond 1 ulp"
    device.close()


if __name__ == "__main__":
    main()
