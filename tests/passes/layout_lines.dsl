# What a reduction leaves is written once. Where the lanes of a warp store one behind the other, a word each, they write
# lines whole: wider vectors are not worth an exchange. Of 16 bits they are.
# RUN: fsc %s --passes=fold,cse,layout --emit=tile --arch=sm_90 -o - --num-warps=4 --signature="*fp32:16, *fp32" | \
# RUN:   FileCheck %s
# RUN: fsc %s --passes=fold,cse,layout --emit=tile --arch=sm_90 -o - --num-warps=4 --signature="*fp16:16, *fp16" | \
# RUN:   FileCheck %s --check-prefix=HALF
# CHECK: reduce
# CHECK-NOT: convert_layout
# CHECK: store
# HALF: reduce
# HALF: convert_layout
# HALF: store
@kernel(grid=(1,))
def f(o: *T, x: *const T, T: dtype = fp32):
    cols = arange(0, 1024)[None, :]
    store(o + cols, sum(load(x + cols), axis=0, keep_dims=True))
