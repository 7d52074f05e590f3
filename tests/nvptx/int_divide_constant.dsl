# Division by a constant needs neither a guard nor a division.
# RUN: fsc %s --emit=ptx --arch=sm_80 --num-warps=2 -o - | FileCheck %s
# CHECK-NOT: div.
# CHECK-NOT: setp
# CHECK: st.global
@kernel(grid=(1,))
def k(y: *i32, x: *i32):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, v // 8)
