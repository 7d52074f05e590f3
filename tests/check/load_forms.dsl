# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# load with mask, other, cache policy; other takes the pointer's element type; 0 where it is left out.
@kernel(grid=(1,))
def k(x: *fp16, n: i32):
    i = arange(0, 16)
    # CHECK: load %{{[0-9]+}} : tile<16xfp16>
    a = load(x + i)
    # CHECK: load %{{[0-9]+}}, %m : tile<16xfp16>
    m = i < n
    b = load(x + i, mask=m)
    # CHECK: const -inf : fp16
    # CHECK: load %{{[0-9]+}}, %m, %{{[0-9]+}} : tile<16xfp16>
    c = load(x + i, m, -inf)
    # CHECK: load %{{.*}} {{.*}}cg{{.*}}first
    d = load(x + i, cache_modifier=".cg", eviction_policy="evict_first")
    # CHECK: load %{{.*}} {{.*}}volatile
    e = load(x, volatile=True)
    # A mask that is known to be true is none.
    # CHECK: load %{{[0-9]+}} : tile<16xfp16>
    f = load(x + i, mask=True, other=3.0)
    # CHECK: store %{{[0-9]+}}, %{{[0-9]+}}, %m
    store(x + i, a + b + c + d + e + f, mask=m)
