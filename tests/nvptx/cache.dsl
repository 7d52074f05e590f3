# Cache and eviction policies; the latter raise the PTX version, and nothing else does.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: .version 7.4
# CHECK: ld.global.cg.b32
# CHECK: ld.global.L1::evict_first.b32
# CHECK: st.global.cs.b32
@kernel(grid=(1,))
def k(z: *fp32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    a = load(x + i, cache_modifier=".cg")
    b = load(y + i, eviction_policy="evict_first")
    store(z + i, a + b, cache_modifier=".cs")
