"""stats.py - numbers about samples: geometric means, and how sure the ratio of two peers is.

In: milliseconds of two peers, measured in the same rounds. Out: how many times as fast the first is,
with the 95 % interval.
Method: a bootstrap over rounds. A round keeps its two samples together, so what slows a whole round cancels.
"""
import math
import statistics

RESAMPLES = 2000


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def median(values):
    return float(statistics.median(values))


def speed_ratio(own, other):
    """(ratio, low, high) of speeds, own to other: median time of the other over the median of our own."""
    import numpy as np  # here alone: bench/page.py has medians and needs a plain Python only

    rounds = min(len(own), len(other))
    own, other = np.asarray(own[:rounds]), np.asarray(other[:rounds])
    picks = np.random.default_rng(0).integers(0, rounds, (RESAMPLES, rounds))
    drawn = np.median(other[picks], axis=1) / np.median(own[picks], axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(np.median(other) / np.median(own)), float(low), float(high)
