# What a reduction leaves lies in vectors of 8. Where it may be stored by vectors of 4, each lane writes half sectors.
# Where one by one, every sector would be written 8 times: it goes to where lanes follow each other first.
# RUN: fsc %s --passes=fold,cse,layout --emit=tile --arch=sm_90 -o - --num-warps=4 --signature="*fp32:16, *fp16:16" | \
# RUN:   FileCheck %s
# RUN: fsc %s --passes=fold,cse,layout --emit=tile --arch=sm_90 -o - --num-warps=4 --signature="*fp32, *fp16:16" | \
# RUN:   FileCheck %s --check-prefix=PIECES
# CHECK: reduce
# CHECK-NOT: convert_layout
# CHECK: store
# PIECES: reduce
# PIECES: convert_layout
# PIECES: store
@kernel(grid=(1,))
def f(o: *fp32, x: *const fp16):
    cols = arange(0, 1024)[None, :]
    store(o + cols, sum(load(x + cols).to(fp32), axis=0, keep_dims=True))
