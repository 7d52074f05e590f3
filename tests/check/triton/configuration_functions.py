# RUN: fsc --emit=report --kernel k --signature "*fp32, i32" -D n=9 %s -o - 2>&1 | FileCheck --check-prefix=FIRST %s
# RUN: fsc --emit=report --kernel k --signature "*fp32, i32" -D n=9 --config 4 %s -o - 2>&1 \
# RUN:   | FileCheck --check-prefix=FOURTH %s
# RUN: fsc --emit=report --kernel k --signature "*fp32, i32" -D n=9 --config 7 %s -o - 2>&1 \
# RUN:   | FileCheck --check-prefix=LAST %s
# RUN: fsc --emit=report --kernel looped --signature "*fp32" --config=3 %s -o - 2>&1 | FileCheck --check-prefix=LOOP %s
# RUN: fsc --emit=tile --passes= --kernel asking --signature "*fp32" -D B=16 %s -o - 2>&1 \
# RUN:   | FileCheck --check-prefix=ASK %s
# RUN: fsc --emit=tile --passes= --kernel dropping --signature "*fp32" -D B=16 %s -o - 2>&1 \
# RUN:   | FileCheck --check-prefix=DROP %s
# Configurations that functions of the file make: lists, loops and products over what the file knows.
import itertools
import os

import torch
import triton
import triton.language as tl

GRID = [triton.Config({"B": b, "C": c}, num_warps=w)
        for b, c, w in itertools.product([32, 64], (1, 2), range(1, 3)) if b * c < 128]


def small():
    """One more."""
    hint = os.cpu_count()
    first = [triton.Config({"B": 16, "C": 0}, num_warps=len([1, 2]))]
    print(hint)
    if len([1]) == 0:
        return []
    return first


def pairs():
    return small() + GRID


@triton.autotune(configs=pairs(), key=["n"])
@triton.jit
def k(x, n, B: tl.constexpr, C: tl.constexpr):
    tl.store(x + tl.arange(0, B), C)


# FIRST: param constexpr B int 16 config
# FIRST: param constexpr C int 0 config
# FIRST: config "1 of 7"
# FIRST: launch k threads=64
# FOURTH: param constexpr B int 32 config
# FOURTH: param constexpr C int 2 config
# FOURTH: config "4 of 7"
# FOURTH: launch k threads=128 programs=4
# LAST: param constexpr B int 64 config
# LAST: param constexpr C int 1 config
# LAST: config "7 of 7"
# LAST: launch k threads=64


def looped_configs():
    out = []
    for w in [2, 4]:
        for b, wanted in zip([32, 64, 128], [True, False, True]):
            if wanted:
                out.append(triton.Config({"B": b * w}, num_warps=w))
    out += [triton.Config({"B": 8})]
    return out


@triton.autotune(configs=looped_configs(), key=[])
@triton.jit
def looped(x, B: tl.constexpr):
    # LOOP: param constexpr B int 128 config
    # LOOP: config "3 of 5"
    # LOOP: launch looped threads=128
    tl.store(x + tl.arange(0, B), 1.0)


def asked():
    if torch.cuda.is_available():
        return GRID
    return []


# ASK: warning: this decorator is left out: its configurations cannot be read at compile time [W0101]
# ASK: this is not known from the file alone
# ASK: arange 0, 16
@triton.autotune(configs=asked(), key=[])
@triton.jit
def asking(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)


def dropped():
    out = [triton.Config({"B": 32})]
    out = [triton.Config({"B": 64})]
    return out


# DROP: warning: this decorator is left out
# DROP: this is not known
@triton.autotune(configs=dropped(), key=[])
@triton.jit
def dropping(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)
