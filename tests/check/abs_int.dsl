# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# abs of signed integers; unsigned ones stay.
@kernel(grid=(1,))
def k(x: *i32, u: *u32):
    # CHECK: %v = load %x
    v = load(x)
    # CHECK: %[[N:.*]] = sub %{{.*}}, %v : i32
    # CHECK: smax %v, %[[N]] : i32
    store(x, abs(v))
    # CHECK: %[[U:.*]] = load %u
    # CHECK: store %u, %[[U]]
    store(u, abs(load(u)))
