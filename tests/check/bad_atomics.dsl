# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# What atomics do not take.
@kernel(grid=(1,))
def k(x: *fp32, c: *const i32, h: *fp16, b: *i8, n: *i32):
    i = arange(0, 16)
    # CHECK: [[#@LINE+1]]:{{[0-9]+}}: error: 'atomic_add' needs a pointer or a tile of pointers, not i32
    atomic_add(program_id(0), 1)
    # CHECK: error: 'atomic_add' through a pointer that is declared *const
    atomic_add(c, 1)
    # CHECK: error: 'atomic_and' of fp32 elements
    # CHECK: note: it is compiled for i32, u32, i64, u64
    atomic_and(x, 1.0)
    # CHECK: error: 'atomic_max' of fp16 elements
    atomic_max(h, 1.0)
    # CHECK: error: 'atomic_add' of i8 elements
    atomic_add(b, 1)
    # CHECK: error: 'atomic_cas' of i8 elements
    atomic_cas(b, 1, 2)
    # CHECK: error: sem is {{.*}}
    # CHECK: note: it is one of "acq_rel", "relaxed", "acquire", "release"
    atomic_add(n, 1, sem="seq_cst")
    # CHECK: error: scope is {{.*}}
    # CHECK: note: it is one of "gpu", "cta", "sys"
    atomic_add(n, 1, scope="warp")
    # CHECK: error: the value is tile<16xi32>, and the pointer is *i32
    atomic_add(n, i)
    # CHECK: error: the mask is
    atomic_add(n + i, 1, mask=arange(0, 8) < 4)
    # CHECK: error: 'atomic_xchg' lacks its argument 'val'
    atomic_xchg(n)
    # CHECK-NOT: error:
