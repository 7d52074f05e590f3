# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# static_range unrolls with a constant loop variable; a known break ends it; a tuple can be walked over too.
@kernel(grid=(1,))
def k(x: *fp32):
    # CHECK-NOT: for
    # CHECK: const 0.0
    # CHECK: const 2.0
    # CHECK-NOT: const 4.0
    for i in static_range(0, 10, 2):
        if i == 4:
            break
        store(x + i, i * 1.0)
    # CHECK: arange 0, 16
    # CHECK: arange 0, 32
    for size in (16, 32):
        store(x + arange(0, size), 0.0)
    # CHECK: const 8.0
    # CHECK-NOT: const 9.0
    for i in static_range(8, 10):
        if i == 9:
            continue
        store(x, i * 1.0)
