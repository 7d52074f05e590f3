# A weight that is used twice by each of forty ops: looked at once each, for there are 2^40 ways through them.
# RUN: fsc %s --arch=sm_90 --emit=simt -o - | FileCheck %s
# CHECK-NOT: when = stored
@kernel(num_warps=4)
def k(y: *fp32, x: *fp32, w: *const fp32):
    i = arange(0, 8192)
    v = load(multiple_of(x, 16) + i)
    s = sum(v, axis=0)
    h = load(multiple_of(w, 16) + i)
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    h = h * h + s
    store(multiple_of(y, 16) + i, v * h)
