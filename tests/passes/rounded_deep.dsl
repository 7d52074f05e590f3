# Whether a quotient is only rounded is asked of each value once: of a chain in which every value has two uses, too.
# RUN: bounded 10 400 fsc %s --arch=sm_90 --emit=simt -o - | FileCheck %s
# CHECK: fdiv_rn %{{.*}} : fp32
# CHECK-NOT: fdiv_rn
@kernel
def deep(y: *fp16, x: *fp32, d: *fp32, e: *fp32):
    i = arange(0, 256)
    w = load(e + i)
    q = div_rn(load(x + i), load(d))
    for k in static_range(0, 40):
        q = where(w > k, minimum(q, w), q)
    store(y + i, q.to(fp16))
