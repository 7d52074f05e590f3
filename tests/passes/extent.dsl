# RUN: fsc %s --kernel ends --arch=sm_80 --num-warps=1 --verify-each --print-after=chunk -o /dev/null -D BLOCK=8192 \
# RUN:   -D 'n<=5000' 2>&1 | FileCheck %s
# RUN: fsc %s --kernel counts --arch=sm_80 --num-warps=1 --print-after=chunk -o /dev/null -D BLOCK=8192 \
# RUN:   -D 'n<=5000' 2>&1 | FileCheck %s --check-prefix=COUNTS
# RUN: fsc %s --kernel stored --arch=sm_80 --num-warps=1 --print-after=chunk -o /dev/null -D BLOCK=8192 \
# RUN:   -D 'n<=5000' 2>&1 | FileCheck %s --check-prefix=COUNTS
# Loops over the chunks of a row end with the row, where nothing beyond it counts: 5120 of 8192 elements. A reduction
# begins with what lies there. Where what lies there is summed, or stored, they go to the tile's end.

# CHECK-LABEL: func @ends
# CHECK-DAG: [[END:%[0-9]+]] = const 5120 : i32
# CHECK-DAG: [[LEAST:%[0-9]+]] = const -inf : tile<32xfp32>
# CHECK: for %{{[0-9]+}} = %{{[0-9]+}} to [[END]] {{.*}}= [[LEAST]]
# CHECK: const 5120 : i32
# CHECK-NOT: const 8192
@kernel
def ends(y: *fp32, x: *fp32, n: i32, BLOCK: constexpr = 1):
    cols = arange(0, BLOCK)
    v = load(x + cols, mask=cols < n, other=-inf)
    e = exp(v - max(v, axis=0))
    s = sum(e, axis=0)
    above = sum(where(cols < n, v - s, 0.0), axis=0)
    store(y + cols, e / s + above, mask=cols < n)

# COUNTS: const 8192 : i32
# COUNTS-NOT: const 5120
@kernel
def counts(y: *fp32, x: *fp32, n: i32, BLOCK: constexpr = 1):
    cols = arange(0, BLOCK)
    v = load(x + cols, mask=cols < n, other=1.0)
    store(y + cols, v / sum(v, axis=0), mask=cols < n)

@kernel
def stored(y: *fp32, x: *fp32, n: i32, BLOCK: constexpr = 1):
    cols = arange(0, BLOCK)
    v = load(x + cols, mask=cols < n, other=0.0)
    store(y + cols, v / sum(v, axis=0))
