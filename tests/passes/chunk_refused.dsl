# RUN: fsc %s --arch=sm_80 --num-warps=1 --print-after=chunk -o /dev/null -D BLOCK=8192 2>&1 | FileCheck %s
# RUN: fsc %s --arch=sm_80 --num-warps=1 --print-after=chunk -o /dev/null -D BLOCK=8192 -D TURNED=0 2>&1 \
# RUN:   | FileCheck %s --check-prefix=STRAIGHT
# A chunk's store, in the row that is read, may not meet what another chunk loads: rows are turned round,
# the function stays as it is.

# CHECK-LABEL: func @shifted
# CHECK-NOT: for
# CHECK: load {{.*}} : tile<8192xfp32>
# STRAIGHT: for
# STRAIGHT: load {{.*}} : tile<512xfp32>
@kernel
def shifted(x: *fp32, n: i32, TURNED: constexpr = 1, BLOCK: constexpr = 1):
    cols = arange(0, BLOCK)
    v = load(x + cols, mask=cols < n)
    if TURNED:
        store(x + n - 1 - cols, v, mask=cols < n)
    else:
        store(x + cols, v + 1, mask=cols < n)
