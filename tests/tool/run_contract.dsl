# RUN: exits 2 fsc run --device=cpu %examples/softmax.dsl x=random:0:fp32[5,33] y=zeros:fp32[4,33] 2>&1 \
# RUN:   | FileCheck --check-prefix=TWO %s
# RUN: exits 2 fsc run --device=cpu %examples/softmax.dsl x=random:0:fp32[5,33] y=zeros:fp32[5,33] n_rows=6 2>&1 \
# RUN:   | FileCheck --check-prefix=SCALAR %s
# RUN: exits 2 fsc run --device=cpu %examples/softmax.dsl x=random:0:fp32[2,3,4] y=%t.npy 2>&1 \
# RUN:   | FileCheck --check-prefix=RANK %s
# RUN: exits 2 fsc run --device=cpu %examples/softmax.dsl x=random:0:fp32[2,64] y=%t.npy BLOCK=32 2>&1 \
# RUN:   | FileCheck --check-prefix=REQUIRE %s
# RUN: exits 2 fsc run --device=cpu -T T=fp16 %examples/softmax.dsl x=random:0:fp32[2,64] y=%t.npy 2>&1 \
# RUN:   | FileCheck --check-prefix=TYPE %s
# RUN: exits 2 fsc run --device=cpu %s x=random:0:fp32[7] y=zeros:fp32[4] 2>&1 | FileCheck --check-prefix=SMALL %s
# RUN: exits 0 fsc run --device=cpu --warmup 0 --repeat 1 %s x=random:0:fp32[8] y=zeros:fp32[4] 2>&1 \
# RUN:   | FileCheck --check-prefix=FITS %s
# A contract that arrays contradict names both; a buffer that is too small is refused before anything runs.
@kernel(grid=(n,))
def pairs(y: *fp32[n], x: *fp32[2 * n], n: i32):
    i = program_id(0)
    store(y + i, load(x + 2 * i) + load(x + 2 * i + 1))
# TWO: fsc run: n_rows is 4 by the shape of y, and 5 by the shape of x
# SCALAR: fsc run: n_rows is 6 by n_rows=6, and 5 by the shape of y
# RANK: fsc run: x has 2 dimensions by its contract, and the array has 3
# REQUIRE: fsc run: kernel softmax requires BLOCK >= n_cols, which does not hold (n_cols = 64, BLOCK = 32)
# TYPE: fsc run: x points to fp16, and the array has fp32; give one of fp16
# SMALL: fsc run: buffer x holds 28 bytes, and its contract {{.*}} wants 32 (n = 4)
# FITS: pairs on cpu
