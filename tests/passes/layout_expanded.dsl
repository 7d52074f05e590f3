# A store of a tile that is expanded takes it as it lies where that is as good for memory: eight columns a thread, which
# 16-bit loads want, are two vectors of fp32.
# RUN: fsc %s --passes=fold,cse,layout --emit=tile --arch=sm_90 -o - --num-warps=4 --signature="*fp32:16, *bf16:16" | \
# RUN:   FileCheck %s
# CHECK: reduce {{.*}} : tile<1024xfp32, #[[ROW:.*]]>
# CHECK-NOT: convert_layout
# CHECK: store {{.*}} {align = 16, vec = 4
@kernel(grid=(1,))
def f(o: *fp32, x: *const bf16):
    cols = arange(0, 1024)[None, :]
    store(o + cols, sum(load(x + cols).to(fp32), axis=0, keep_dims=True))
