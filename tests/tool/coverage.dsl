# RUN: fsc run --coverage %s x=random:0:fp32[3,100] y=%t.npy | FileCheck --check-prefixes=BOTH,SHORT %s
# RUN: fsc run --coverage --device=emu %s x=random:0:fp32[3,100] y=%t.npy | FileCheck --check-prefixes=BOTH,SHORT,EMUSHORT %s
# RUN: fsc run --coverage --device=emu %s x=random:0:fp32[3,1000] y=%t.npy | FileCheck --check-prefixes=BOTH,LONG,EMULONG %s
# RUN: fsc run --coverage %s x=random:0:fp32[3,1000] y=%t.npy | FileCheck --check-prefixes=BOTH,LONG %s
# RUN: fsc run --coverage --json %s x=random:0:fp32[3,1000] y=%t.npy | %python -c "import json, sys; c = json.load(sys.stdin); print(c['kernel'], c['repeat'], {l['line']: l['runs'] > 0 for l in c['coverage']})" | FileCheck --check-prefix=JSON %s
# Rows that fit go at once, longer ones in chunks: what a run did not come to is marked.
@kernel(grid=(n_rows,))
def total(y: *fp32[n_rows], x: *fp32[n_rows, n_cols], n_rows: i32, n_cols: i32, BLOCK: constexpr = 128):
    at = x + program_id(0) * n_cols
    cols = arange(0, BLOCK)
    s = 0.0
    if n_cols <= BLOCK:
        s = sum(load(at + cols, mask=cols < n_cols), axis=0)
    else:
        parts = zeros((BLOCK,), fp32)
        for first in range(0, n_cols, BLOCK):
            parts += load(at + first + cols, mask=first + cols < n_cols)
        s = sum(parts, axis=0)
    store(y + program_id(0), s)
# BOTH: total on {{cpu|emu}}
# BOTH: runs | line
# BOTH: 3 |    9      at = x
# BOTH: no code |   11      s = 0.0
# BOTH: 3 |   12      if n_cols <= BLOCK:
# EMUSHORT: 3 |   13 {{.*}}sum(load(
# LONG: never |   13 {{.*}}sum(load(
# SHORT: never |   16          for first
# SHORT: never |   17              parts +=
# SHORT: never |   18          s = sum
# EMULONG: 24 |   17              parts +=
# EMULONG: 3 |   18          s = sum
# BOTH: 3 |   19      store(
# SHORT: total: 3 lines of the kernel never ran
# LONG: total: 1 line of the kernel never ran
# JSON: total 1 {{.*}}13: False
# JSON-SAME: 17: True
