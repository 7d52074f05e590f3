# RUN: fsc %s -Rperf --signature "*fp32:16, *fp32:16, *fp64:16, i32, 2048" -o %t 2>&1 | FileCheck %s
# RUN: fsc %s --signature "*fp32:16, *fp32:16, *fp64:16, i32, 2048" -o %t 2>&1 \
# RUN:   | FileCheck --check-prefix=QUIET --allow-empty %s
# RUN: fsc %s -Rperf --arch=cpu --emit=asm -o %t 2>&1 | FileCheck --check-prefix=QUIET --allow-empty %s
# RUN: fsc %s -Rperf --signature "*fp32:16, *fp32:16, *fp64:16, i32:16, 32" -o %t 2>&1 \
# RUN:   | FileCheck --check-prefix=LANES %s
# Why an access is scalar, each reason once although the loop repeats it; threads without work.
# QUIET-NOT: remark:
# LANES-NOT: element at a time
# LANES: remark: 32 elements for 256 threads: the others have nothing of their own to do [R0103]
# LANES-NEXT: load(x + c * s)
# LANES: note: a tile of several rows, or fewer warps, would use them
# LANES-NOT: remark:
@kernel(grid=(s,), num_warps=8)
def k(x: *fp32, y: *fp32, z: *fp64, s: i32, B: constexpr = 2048):
    c = arange(0, B)
    # CHECK: remarks.dsl:[[#@LINE+1]]:9: remark: this access takes one element at a time: neighbours are 's' elements apart [R0101]
    a = load(x + c * s)
    # CHECK: remark: this access takes one element at a time: neighbours are 3 elements apart [R0101]
    a += load(x + c * 3)
    a += load(x + program_id(0) * s + c)  # a rotated row
    a += load(y + 1 + c)
    for i in static_range(3):
        # CHECK: remark: this access takes one element at a time: its addresses are not known to be neighbours along any axis [R0101]
        # CHECK-NOT: remark:
        a += load(y + load(y + c).to(i32))
    store(z + c, a.to(fp64))
