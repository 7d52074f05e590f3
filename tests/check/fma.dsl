# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# fma rounds once, in the common type of its three operands; integers multiply and add.
@kernel(grid=(1,))
def k(x: *fp32, h: *fp16, n: i32, o: *i32):
    # CHECK: %[[A:.*]] = load %h : fp16
    # CHECK: %[[B:.*]] = load %x : fp32
    # CHECK: fma %{{.*}}, %[[B]], %{{.*}} : fp32
    store(x, fma(load(h), load(x), 1.0))
    # CHECK: fma %{{.*}} : fp16
    store(h, fma(load(h), 2.0, 3))
    # CHECK: mul %n
    # CHECK: add
    store(o, fma(n, n, 1))
