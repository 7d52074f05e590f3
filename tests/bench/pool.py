# Ratios of several processes become one: a process that is off by 3 % in a chance direction is no difference, one way
# that is 3 % slower in each process is.
# RUN: %python %s %bench
import random
import sys

sys.path.insert(0, sys.argv[1])
import pool  # noqa: E402


def runs(slower, wobble, other="fsc_uncached", count=9):
    draw = random.Random(1)
    for i in range(count):
        ms = {"fsc": 1.0, other: slower * (1 + wobble * draw.uniform(-1, 1)),
              "fsc_again": 1 + wobble * draw.uniform(-1, 1)}
        yield [{"kernel": "softmax", "rows": 4, "n": 5, "dtype": "fp32", "mode": "flush", "ms": ms}]


for slower, wobble, wanted in ((1.0, 0.0, False), (1.0, 0.03, False), (1.03, 0.01, True), (0.97, 0.001, True)):
    points = pool.pool(list(runs(slower, wobble)))
    (_, ratios), = points.values()
    assert pool.differs(ratios["fsc_uncached"]) == wanted, (slower, wobble, ratios)
    mean, low, high = ratios["fsc_uncached"]
    assert low <= mean <= high and abs(mean * slower - 1) < 0.02, ratios
assert pool.pool(list(runs(1.0, 0.0, "fsc_beside")), "fsc_beside")
assert not pool.pool([[{"kernel": "k", "rows": 1, "n": 1, "dtype": "fp32", "mode": "flush", "ms": {"fsc": 1.0}}]])
