"""limits.py - constants of the package."""
import enum

import triton.language as tl

SIZE = tl.constexpr(16)
FACTOR = 3.0
EPS = 0.5
SHAPE = (4, 2)


class Mode(enum.IntEnum):
    ADD = 1
    SUB = 2
