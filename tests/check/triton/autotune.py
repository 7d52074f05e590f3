# RUN: fsc --emit=tile --passes= --kernel scale --signature "*fp32, i32" %s -o - 2>&1 \
# RUN:   | FileCheck --check-prefixes=FIRST %s
# RUN: fsc --emit=tile --passes= --kernel scale --signature "*fp32, i32" --config 2 %s -o - 2>&1 \
# RUN:   | FileCheck --check-prefix=SECOND %s
# RUN: fsc --emit=tile --passes= --kernel scale --signature "*fp32, i32" --config=3 %s -o - 2>&1 \
# RUN:   | FileCheck --check-prefix=THIRD %s
# RUN: fsc --emit=tile --passes= --kernel scale --signature "*fp32, i32" --config=6 -D SCALE=2.0 --num-warps=1 %s -o - \
# RUN:   2>&1 | FileCheck --check-prefix=SIXTH %s
# RUN: fsc --emit=report --kernel scale --signature "*fp32, i32" --config=4 %s -o - | FileCheck --check-prefix=REPORT %s
# RUN: fsc info --gpu=h100 --kernel scale --signature "*fp32, i32" --config=4 %s | FileCheck --check-prefix=INFO %s
# RUN: exits 2 fsc --kernel scale --signature "*fp32, i32" --config=7 %s -o - 2>&1 | FileCheck --check-prefix=BEYOND %s
# RUN: exits 2 fsc --kernel scale --signature "*fp32, i32" --config=0 %s -o - 2>&1 | FileCheck --check-prefix=ZERO %s
# RUN: exits 2 fsc --kernel plain --signature "*fp32" --config=1 %s -o - 2>&1 | FileCheck --check-prefix=NONE %s
# The configurations of @triton.autotune: written out, in sums, in comprehensions, in constants of the file.
import triton
import triton.language as tl

WARPS = [1, 8]
MORE = [triton.Config({'BLOCK': b, 'SCALE': 1.5}, num_warps=w) for b in (32, 64) if b > 32 for w in WARPS]


@triton.autotune(
    configs=[
        triton.Config({'BLOCK': 128, 'SCALE': 0.5}, num_warps=4, num_stages=2),
        triton.Config(kwargs=dict(BLOCK=256, SCALE=0.25), num_warps=8),
    ] + MORE + [triton.Config({'BLOCK': 2 ** n, 'SCALE': float(n)}) for n in range(9, 11)],
    key=['n'],
    prune_configs_by={'early_config_prune': lambda configs, nargs, **kwargs: configs},
)
@triton.jit
def scale(x, n, BLOCK: tl.constexpr, SCALE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * SCALE, mask=i < n)


# FIRST-NOT: warning
# FIRST: warps 4 stages 2
# FIRST: arange 0, 128
# FIRST: const 0.5
# SECOND: warps 8
# SECOND: arange 0, 256
# SECOND: const 0.25
# THIRD: warps 1
# THIRD: arange 0, 64
# THIRD: const 1.5
# SIXTH: warps 1
# SIXTH: arange 0, 1024
# SIXTH: const 2.0
# REPORT: param constexpr BLOCK int 64 config
# REPORT: param constexpr SCALE float 1.5 config
# REPORT: config "4 of 6"
# REPORT: threads=256
# INFO: BLOCK {{ *}}64 (config)
# INFO: config {{ *}}4 of 6
# BEYOND: error: --config 7: 'scale' has 6 configurations, counted from 1 [E0512]
# ZERO: --config counts from 1
# NONE: error: --config 1: 'plain' has no @autotune whose configurations can be read [E0512]
@triton.jit
def plain(x):
    tl.store(x, 1.0)
