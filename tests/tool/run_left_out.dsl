# An array that is left out says no stride, and nothing hangs on the one that only its contract names.
# RUN: fsc run %s --device cpu x=random:0:fp32[3,5] y=%t.npy -D z=None w=2 | FileCheck %s
# RUN: not fsc run %s --device cpu x=random:0:fp32[3,5] y=%t.npy -D z=None 2>&1 | FileCheck --check-prefix=W %s
# RUN: fsc %s -D z=None --emit=report -o - | FileCheck --check-prefix=RECORD %s
# CHECK: left_out on cpu
# W: scalar 'w' is missing; give w=NUMBER
# RECORD: param constexpr z word None option
# RECORD-NEXT: dim "$5" "$3"
# RECORD-NEXT: dim "$6" "1"
@kernel(grid=(m,))
def left_out(y: *fp32[m, n], x: *const fp32[m, n], z: *const fp32[m:z_stride, n], z_stride: i32, w: i32, m: i32,
             n: i32, BLOCK: constexpr = 8):
    i = arange(0, BLOCK)
    v = load(x + program_id(0) * n + i, mask=i < n)
    if z is not None:
        v += load(z + program_id(0) * z_stride + i, mask=i < n) * w
    store(y + program_id(0) * n + i, v, mask=i < n)
