# What a broadcast repeats is computed in each layout that its tile is demanded in, however many ops of a row that are:
# no truth value of the tile goes through shared memory.
# RUN: fsc %s --passes=fold,narrow,cse,licm,fma,dce,matrix,layout,fold2,cse2,dce2 --emit=tile --arch=sm_80 -o - \
# RUN:   --signature="*fp32:16, *fp16:16, i32, i32" | FileCheck %s
# CHECK: %d = mma {{.*}} : tile<64x64xfp32, #[[L:.*]]>
# CHECK-NOT: convert_layout {{.*}}x{{i1|i32|i64}}
# CHECK: select %{{.*}}, %d, %{{.*}} : tile<64x64xfp32, #[[L]]>
@kernel(grid=(n,))
def f(y: *fp32, x: *const fp16, n: i32, m: i32):
    i = arange(0, 64)
    at = i[:, None] * 64 + i[None, :]
    a = load(x + at)
    row = program_id(0) * 64 + i
    first = maximum(row + m - 5, row + 3)
    last = minimum(row + n + 7, row + 9)
    d = dot(a, a)
    seen = (i[None, :] >= first[:, None]) & (i[None, :] < last[:, None]) & (row < n)[:, None] & (i < m)[None, :]
    store(y + at, where(seen, d, 0.0))
