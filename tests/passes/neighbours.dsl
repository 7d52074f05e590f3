# RUN: fsc %s --arch=sm_90 --print-after=neighbours --verify-each -o %t.ptx 2>&1 | FileCheck %s
# RUN: FileCheck --check-prefix=PTX %s <%t.ptx
# RUN: fsc %s --arch=sm_80 -o - | FileCheck --check-prefix=OLD %s
# A load of a piece of a line of memory, whose rest the program beside loads, has the second cache fetch the line.
# PTX: .version 7.8
# PTX-COUNT-8: ld.global.L2::128B.b32
# PTX-COUNT-4: ld.global.L1::evict_first.L2::128B.b32
# PTX-NOT: L2::128B
# OLD-NOT: L2::128B
@kernel(grid=(4, 4), num_warps=1)
def k(x: *fp32, y: *fp32, stride: i32, n: i32):
    r = arange(0, 16)[:, None] * (stride * 4)
    # CHECK: load {{.*}} {line} : tile<16x16xfp32>
    a = load(x + r + program_id(0) * 16 + arange(0, 16)[None, :])
    # CHECK: load {{.*}} {evict = first, line} : tile<16x8xfp32>
    b = load(x + r + program_id(1) * 8 + arange(0, 8)[None, :], eviction_policy="evict_first")
    # A whole line, a piece that is all there is, and pieces whose neighbours no program beside loads.
    # CHECK: load {{[^{]*}} : tile<16x32xfp32>
    c = load(x + r + program_id(0) * 32 + arange(0, 32)[None, :])
    # CHECK: load {{[^{]*}} : tile<16xfp32>
    d = load(x + program_id(0) * 16 + arange(0, 16))
    # CHECK: load {{[^{]*}} : tile<16x16xfp32>
    e = load(x + r + program_id(0) * 32 + arange(0, 16)[None, :])
    # CHECK: load {{[^{]*}} : tile<16x16xfp32>
    f = load(x + r + n + arange(0, 16)[None, :])
    store(y + r + arange(0, 16)[None, :], a + e + f + d[None, :] + sum(c, 1)[:, None] + sum(b, 1)[:, None])
