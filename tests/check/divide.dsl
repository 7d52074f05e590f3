# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# int / int is fp32, a narrow float divides in fp32, fp64 in fp64; // and % of integers truncate.
@kernel(grid=(1,))
def k(n: i32, u: *u32, h: *fp16, d: *fp64, x: *fp32):
    i = arange(0, 16)
    # CHECK: %a = fdiv %{{.*}} : fp32
    a = n / 3
    # CHECK: %b = fdiv %{{.*}} : tile<16xfp32>
    b = load(h + i) / 2
    # CHECK: %c = fdiv %{{.*}} : tile<16xfp64>
    c = load(d + i) / n
    # CHECK: %q = sdiv %n
    q = n // 3
    # CHECK: %r = srem %n
    r = n % 3
    # CHECK: %p = udiv %{{.*}} : tile<16xi32>
    p = load(u + i) // 3
    # CHECK: %m = frem %{{.*}} : tile<16xfp32>
    m = load(h + i) % 3
    store(x + i, a + b + c + q + r + p + m)
