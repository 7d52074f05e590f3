# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# One builtin under all its names: bare, tl., tl.math., libdevice., as a method.
@kernel(grid=(1,))
def k(x: *fp32):
    v = load(x)
    # CHECK-COUNT-6: = exp %
    a = exp(v) + tl.exp(v) + triton.language.exp(v) + tl.math.exp(v) + libdevice.exp(v) + v.exp()
    # CHECK: const 16
    store(x + triton.next_power_of_2(9), a.to(tl.float16))
    static_assert(tl.float32 == fp32 and a.dtype == tl.float32)
