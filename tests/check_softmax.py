#!/usr/bin/env python3
"""check_softmax.py make FILE ROWS COLS [SEED]: writes random normal floats.
check_softmax.py check IN OUT: compares OUT with the row softmax of IN, computed here in float64.

The bound is (10 + 2.5 |x - max|) u want per element with u = 2^-24, and every row sums to 1
within 1e-6. NaN and infinity must stand where the formula puts them. Exit code 1 where anything is off.
"""

import sys

import numpy as np

U = 2.0**-24


def softmax(x):
    """Row softmax of x in float64."""
    shifted = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        shifted = shifted - shifted.max(axis=1, keepdims=True)
        powers = np.exp(shifted)
        return powers / powers.sum(axis=1, keepdims=True), shifted


def check(x, y):
    """Problems of y as the softmax of x, as sentences; prints the largest errors."""
    if y.shape != x.shape:
        return ["the result's shape is %s, wanted %s" % (y.shape, x.shape)]
    want, shifted = softmax(x)
    got = y.astype(np.float64)
    problems = []
    if not np.array_equal(np.isnan(got), np.isnan(want)):
        problems.append("NaN stands in other places than it must")
    if np.isinf(got).any():
        problems.append("the result holds an infinity")
    good = ~np.isnan(want)
    error = np.abs(got - want)[good]
    # Results under the smallest normal float may be flushed to 0.
    bound = ((10 + 2.5 * np.abs(shifted)) * U * want)[good] + 2.0**-126
    rows = good.all(axis=1)
    off = np.abs(got[rows].sum(axis=1) - 1)
    print("max |error| %.3g, %.0f %% of the bound; rows sum to 1 within %.3g (%d x %d, float64 reference)"
          % (error.max(initial=0), 100 * (error / bound).max(initial=0), off.max(initial=0), *x.shape))
    if not (error <= bound).all():
        problems.append("%d of %d elements are off by more than the bound" % ((error > bound).sum(), error.size))
    if not (off <= 1e-6).all():
        problems.append("%d rows do not sum to 1" % (off > 1e-6).sum())
    return problems


def self_test():
    """The check passes a right result and must catch planted faults."""
    x = np.random.default_rng(1).standard_normal((7, 33)).astype(np.float32)
    right = softmax(x)[0].astype(np.float32)
    swapped, nan, scaled = right.copy(), right.copy(), right * np.float32(1 + 4e-6)
    swapped[3, [4, 5]] = swapped[3, [5, 4]]
    nan[6, 32] = np.nan
    faults = [swapped, nan, scaled, right[:, :-1], np.zeros_like(right)]
    return bool(check(x, right)) or not all(check(x, fault) for fault in faults)


def main(arguments):
    if arguments[:1] == ["make"] and len(arguments) in (4, 5):
        rows, columns = int(arguments[2]), int(arguments[3])
        seed = int(arguments[4]) if len(arguments) == 5 else 0
        np.save(arguments[1], np.random.default_rng(seed).standard_normal((rows, columns), dtype=np.float32))
        return 0
    if arguments == ["--self-test"]:
        return self_test()
    if arguments[:1] != ["check"] or len(arguments) != 3:
        sys.exit(__doc__)
    problems = check(np.load(arguments[1]), np.load(arguments[2]))
    print("\n".join(problems) if problems else "softmax is right")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(int(main(sys.argv[1:])))
