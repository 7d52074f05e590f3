# Threads of some hundred elements, in times that do not grow with their square. LLVM's straight-line strength reduction
# compared all sums of an address (42 s for B = 8192): it is off, and codegen/nvptx/steps.c does its work by a table.
# Emulated threads choose floats as integers, which LLVM does without a branch (48 s for the scan), and are not given to
# LLVM's allocator of registers, which took minutes.
# RUN: bounded 20 512 fsc %s --kernel flat --num-warps=1 -D B=8192 -o - | FileCheck %s --check-prefix=PTX
# RUN: bounded 20 512 fsc %s --kernel scan --num-warps=2 -D P=8 -D Q=64 --arch=emu --emit=asm -o - \
# RUN:   | FileCheck %s --check-prefix=ASM
# Rows of a thread that lie a stride apart: one product for the first, and one for the step.
# RUN: fsc %s --kernel rows --num-warps=1 -o - | FileCheck %s --check-prefix=ROWS
# What ptxas takes long for is a warning; not for emulated threads, nor where registers hold the values.
# RUN: fsc %s --kernel scan --num-warps=4 -D P=8 -o %t 2>&1 | FileCheck %s --check-prefix=WARN
# RUN: fsc %s --kernel scan --num-warps=4 -D P=8 --arch=emu --emit=asm -o %t 2>&1 | count 0
# RUN: fsc %s --kernel scan --num-warps=16 -D P=8 -o %t 2>&1 | count 0
# WARN: long.dsl:[[@LINE+21]]:{{.*}} warning: the code of one thread has {{[0-9]+}} instructions {{.*}}[W0901]
# WARN: note: each of 128 threads holds 256 elements of this tile; take more warps than num_warps = 4
# PTX: .visible .entry
# ASM: .size
# ROWS: mul.lo.s64
# ROWS-NOT: {{(mul|mad)}}.lo.s64
# ROWS: ld.global.b32
@kernel(grid=(1,))
def flat(y: *i32, x: *i32, n: i32, B: constexpr = 1024):
    c = arange(0, B)
    mask = c < n
    v = load(x + c, mask=mask, other=0)
    store(y + c, v, mask=mask)
    r = load(y + (n - 1 - c), mask=mask, other=5)
    store(y + c, r + v + sum(v), mask=mask)

@kernel(grid=(1,))
def scan(y: *fp32, x: *fp32, n: i32, sp: i32, sq: i32, sr: i32, P: constexpr = 8, Q: constexpr = 64):
    i = arange(0, P)[:, None, None]
    j = arange(0, Q)[None, :, None]
    k = arange(0, Q)[None, None, :]
    at = i * sp + j * sq + k * sr
    mask = (i < n) & (j < n + 1) & (k < n + 2)
    v = load(x + at, mask=mask, other=0.0)
    store(y + at, cumsum(v, axis=2) * v / (1.0 + exp(-v)), mask=mask)

@kernel(grid=(1,))
def rows(y: *fp32, x: *fp32, stride: i64, R: constexpr = 8):
    at = (program_id(0) + arange(0, R))[:, None] * stride + arange(0, 32)[None, :]
    store(y + at, load(x + at))
