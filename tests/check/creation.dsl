# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# full, zeros, zeros_like, arange from any start, and what a tile says of itself.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK: %a = const 3.0 : tile<4x8xfp32>
    a = full((4, 8), 3.0, fp32)
    # CHECK: %b = const 0 : tile<16xi32>
    b = zeros([16], i32)
    # CHECK: splat %n : tile<8xi32>
    c = full((8,), n, i32)
    # CHECK: %d = const 0.0 : tile<4x8xfp32>
    d = zeros_like(a)
    # CHECK: %e = arange 8, 16 : tile<8xi32>
    e = arange(8, 16)
    static_assert(a.shape[0] == 4 and a.shape[1] == 8 and a.numel == 32)
    static_assert(a.dtype == fp32 and len(a.shape) == 2)
    store(x + e, c)
    store(x + arange(0, 16), b)
    store(x + (arange(0, 4)[:, None] + e), a + d)
