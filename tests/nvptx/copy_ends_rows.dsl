# The same of a tile with several rows, whose mask is a broadcast: each vector's bytes are a difference, and 0 beyond
# the last row.
# RUN: fsc %s --arch=sm_90 --signature="*fp16:16, *const fp16:16, i32, i32" -D "n>=600" -D "n<=1000" -D "rows>=1" \
# RUN:     -D "rows<=100000" -o - | FileCheck %s
# CHECK: min.s32 {{%r[0-9]+}}, {{%r[0-9]+}}, 8;
# CHECK-NOT: selp.b32 %r{{[0-9]+}}, 2, 0
# CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %r{{[0-9]+}};
# CHECK-NOT: selp.b32 %r{{[0-9]+}}, 2, 0
# CHECK: func_end0
@kernel(grid=(132,), num_warps=4)
def f(y: *fp16, x: *const fp16, rows: i32, n: i32):
    i = arange(0, 1024)[None, :]
    for first in range(program_id(0) * 4, rows, 528, num_stages=3):
        row = first + arange(0, 4)[:, None]
        store(y + row * 1024 + i, load(x + row * 1024 + i, mask=(row < rows) & (i < n)) + 1.0)
