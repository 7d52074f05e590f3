# Why a product takes no matrix instructions, and a loop that is told not to load ahead.
# RUN: fsc %s -Rperf --arch=sm_90 --kernel=f -o %t 2>&1 | FileCheck %s
# RUN: fsc %s -Rperf --arch=sm_75 --kernel=half -o %t 2>&1 | FileCheck --check-prefix=OLD %s
# RUN: fsc %s -Rperf --arch=sm_90 --kernel=half -o %t 2>&1 | FileCheck --check-prefix=NEW --allow-empty %s
# RUN: fsc %s -Rperf --arch=sm_90 --kernel=half --num-stages=1 -o %t 2>&1 | FileCheck --check-prefix=ONE %s
# RUN: fsc %s -Rperf --arch=sm_90 --kernel=f --num-ctas=2 -o %t 2>&1 | FileCheck --check-prefix=CLUSTER %s
# RUN: fsc %s -Rperf --arch=cpu --emit=asm --kernel=f -o %t 2>&1 | FileCheck --check-prefix=NEW --allow-empty %s
# NEW-NOT: {{not matrix|num_stages is 1}}
@kernel(grid=(4,))
def f(y: *fp32, x: *const fp32, z: *const fp16, n: i32):
    c, few = arange(0, 32), arange(0, 4)
    at, narrow = c[:, None] * 32 + c[None, :], few[:, None] * 32 + c[None, :]
    v = load(x + at)
    # CHECK: remarks_dot.dsl:[[#@LINE+2]]:19: remark: this product takes multiply-adds, not matrix instructions: operands of fp32 are multiplied exactly; input_precision="tf32" allows them [R0107]
    # CLUSTER: remarks_dot.dsl:[[#@LINE+1]]:19: remark: {{.*}}: fragments do not lie over the blocks of a cluster [R0107]
    store(y + at, dot(v, v, input_precision="ieee"))
    # CHECK-NOT: {{not matrix}}
    store(y + 1024 + at, dot(v, v, input_precision="tf32"))
    # CHECK: remarks_dot.dsl:[[#@LINE+1]]:30: remark: {{.*}}: its tiles are smaller than a fragment, 16 x 8 x 16 of M, N and K [R0107]
    store(y + 2048 + narrow, dot(load(z + narrow), load(z + at)))
    # CHECK-NOT: {{not matrix}}


@kernel(grid=(4,))
def half(y: *fp32, z: *const bf16, n: i32):
    c = arange(0, 32)
    at = c[:, None] * 32 + c[None, :]
    t = zeros((32, 32), fp32)
    # ONE: remarks_dot.dsl:[[#@LINE+1]]:5: remark: this loop loads what it multiplies in the round that multiplies it: num_stages is 1 [R0108]
    for i in range(0, n):
        # OLD: remarks_dot.dsl:[[#@LINE+1]]:{{[0-9]+}}: remark: {{.*}}: sm_75 has none of bf16 and bf16 with a sum of fp32 [R0107]
        t = dot(load(z + i * 1024 + at), load(z + i * 1024 + at), t)
    store(y + at, t)
