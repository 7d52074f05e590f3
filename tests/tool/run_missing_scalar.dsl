# RUN: exits 2 fsc run --device=cpu %s y=zeros:fp32[4] 2>&1 | FileCheck --check-prefix=SCALAR %s
# RUN: exits 2 fsc run --device=cpu %s y=%t.npy a=1 2>&1 | FileCheck --check-prefix=SHAPE %s
# RUN: exits 0 fsc run --device=cpu --warmup 0 --repeat 1 %s y=%t.npy:fp32[4] a=1 2>&1 \
# RUN:   | FileCheck --check-prefix=DONE %s
# Without a contract a scalar and a shape must be said.
@kernel(grid=(4,))
def fill(y: *fp32, a: fp32):
    store(y + program_id(0), a)
# SCALAR: fsc run: scalar 'a' is missing; give a=NUMBER
# SHAPE: fsc run: y has no shape contract; say its shape: y={{.*}}.npy:fp32[4,8]
# DONE: fill on cpu
