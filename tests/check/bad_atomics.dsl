# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# What atomics do not take.
@kernel(grid=(1,))
def k(x: *fp32, c: *const i32, h: *fp16, b: *i8, n: *i32):
    i = arange(0, 16)
    # CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: 'atomic_add' needs a pointer or a tile of pointers, not i32 [E0401]
    atomic_add(program_id(0), 1)
    # CHECK: error: 'atomic_add' through a pointer that is declared *const [E0405]
    atomic_add(c, 1)
    # CHECK: error: 'atomic_and' of fp32 elements [E0408]
    # CHECK: note: it is compiled for i32, u32, i64, u64
    atomic_and(x, 1.0)
    # CHECK: error: 'atomic_max' of fp16 elements [E0408]
    atomic_max(h, 1.0)
    # CHECK: error: 'atomic_add' of i8 elements [E0408]
    atomic_add(b, 1)
    # CHECK: error: 'atomic_cas' of i8 elements [E0408]
    atomic_cas(b, 1, 2)
    # CHECK: error: sem is {{.*}} [E0407]
    # CHECK: note: it is one of "acq_rel", "relaxed", "acquire", "release"
    atomic_add(n, 1, sem="seq_cst")
    # CHECK: error: scope is {{.*}} [E0407]
    # CHECK: note: it is one of "gpu", "cta", "sys"
    atomic_add(n, 1, scope="warp")
    # CHECK: error: 'val' of 'atomic_add' is tile<16xi32>, and the pointer is *i32 [E0402]
    atomic_add(n, i)
    # CHECK: error: 'mask' of 'atomic_add' is tile<8xi1>, and the pointer is tile<16x*i32>
    atomic_add(n + i, 1, mask=arange(0, 8) < 4)
    # CHECK: error: 'atomic_xchg' lacks its argument 'val' [E0207]
    atomic_xchg(n)
    # CHECK-NOT: error:
