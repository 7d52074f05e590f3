# RUN: bounded 2 512 not fsc -D N=1048576 %s -o - 2>&1 | FileCheck %s
# RUN: bounded 2 512 not fsc -D N=65536 --num-warps=1 --num-ctas=1 %s -o - 2>&1 | FileCheck %s --check-prefix=ONE
# RUN: bounded 2 512 not fsc -D N=65536 --num-warps=1 --num-ctas=1 --arch=emu --emit=asm %s -o - 2>&1 \
# RUN:   | FileCheck %s --check-prefix=ONE
# RUN: fsc -D N=65536 %s -o -
# RUN: fsc -D N=1048576 --arch=cpu --emit=asm %s -o -
# A tile of which each thread holds more than anybody compiles. LLVM would take minutes; the CPU target runs in chunks.
# CHECK: too_long.dsl:[[@LINE+7]]:{{.*}} error: the code of one thread becomes too long to compile: more than 60000 instructions
# CHECK: note: each of 1024 threads holds 1024 elements of this tile; take more warps than num_warps = 32, or smaller tiles in a loop
# CHECK-NOT: error:
# ONE: too_long.dsl:[[@LINE+4]]:{{.*}} error: the code of one thread becomes too long
# ONE: note: each of 32 threads holds 2048 elements
@kernel(grid=(1,))
def k(x: *fp32, N: constexpr = 1024):
    i = arange(0, N)
    a = cumsum(load(x + i))
    b = exp(a) / sum(exp(a - max(a)))
    store(x + i, b % 3.0 + pow(a, b))
