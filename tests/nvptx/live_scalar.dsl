# A bound that is computed has bounds, too: of 16 elements a thread 8 are never inside.
# RUN: fsc %s --arch=sm_90 --signature="*fp32:16, *fp32:16, i32, i32" -D "n>=1" -D "n<=4000" -o - | FileCheck %s
# CHECK-COUNT-2: ld.global.v4.b32
# CHECK-NOT: ld.global.v4
# CHECK-COUNT-2: st.global.v4.b32
# CHECK-NOT: st.global.v4
@kernel(num_warps=4)
def f(y: *fp32, x: *fp32, n: i32, a: i32):
    i = arange(0, 2048)
    m = i < min(a % 8 + n, 1024)
    store(y + i, load(x + i, mask=m), mask=m)
