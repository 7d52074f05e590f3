# In a loop that copies ahead, where a thread would have too few registers, what it copied for itself is read from shared
# memory again behind the reduction. The place is filled behind that. Where registers are enough, it is read once.
# RUN: fsc %s --arch=sm_90 --signature="*bf16:16, *bf16:16, *fp32:16, i32:16, i32" -D BLOCK=16384 --num-warps=8 \
# RUN:   --verify-each --emit=simt -o - | FileCheck %s
# RUN: fsc %s --arch=sm_90 --signature="*bf16:16, *bf16:16, *fp32:16, i32:16, i32" -D BLOCK=4096 --num-warps=8 \
# RUN:   --emit=simt -o - | FileCheck %s --check-prefix=ONCE
# CHECK: = for
# CHECK: [[X:%.*]] = copy_read [[AT:%.*]] {buffer = [[B:b[0-9]+]],
# CHECK-NOT: prefetch
# CHECK: %h = fmul
# CHECK: reduce_warp
# CHECK: barrier
# CHECK: [[X1:%.*]] = copy_read [[AT]] {buffer = [[B]],
# CHECK: fpext [[X1]]
# CHECK: store
# CHECK: copy_async {{.*}} {buffer = [[B]], prefetch
# CHECK: copy_commit
# CHECK: yield
# ONCE: = for
# ONCE: [[X:%.*]] = copy_read [[AT:%.*]] {buffer = [[B:b[0-9]+]],
# ONCE: copy_async {{.*}} {buffer = [[B]], prefetch
# ONCE-NOT: copy_read
# ONCE: yield
@kernel(grid=(2,))
def f(y: *bf16, x: *const bf16, sums: *fp32, stride: i32, n_rows: i32, BLOCK: constexpr = 4096):
    cols = arange(0, BLOCK)
    total = zeros((BLOCK,), fp32)
    squares = zeros((BLOCK,), fp32)
    for row in range(program_id(0), n_rows, 2, num_stages=3):
        v = load(x + row * stride + cols).to(fp32)
        h = v * 0.5
        g = v * v - h
        s = sum(h * g, axis=0)
        store(y + row * stride + cols, h * s + g)
        total += h * s
        squares += g * s
    store(sums + cols, total)
    store(sums + BLOCK + cols, squares)
