# What is not known of the rows of tiles that are too small to be rotated.
# RUN: fsc %s -Rperf --signature "*fp32:16, *fp32:16, i32" -o %t 2>&1 | FileCheck %s
# RUN: fsc %s -Rperf --signature "*fp32, *fp32:16, i32:16" -o %t 2>&1 | FileCheck --check-prefix=BASE %s
@kernel(grid=(s,))
def k(x: *fp32, y: *fp32, s: i32):
    c = arange(0, 512)
    # CHECK: remarks_short.dsl:[[#@LINE+2]]:9: remark: this access takes one element at a time: 's' is not known to be a multiple of 4 [R0101]
    # BASE: remarks_short.dsl:[[#@LINE+1]]:9: remark: this access takes one element at a time: 'x' is only known to be aligned to 4 bytes [R0101]
    a = load(x + program_id(0) * s + c)
    # CHECK: remark: this access takes one element at a time: it begins at element 1 of a vector [R0101]
    a += load(y + 1 + c)
    store(y + 1 + c, a)
