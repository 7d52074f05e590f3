# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# An integer literal that does not fit the type it must take is an error, and so is a float for an integer.
@kernel(grid=(1,))
def k(b: *i8, u: *u32):
    i = arange(0, 16)
    # CHECK: literal_range.dsl:[[#@LINE+1]]:18: error: the literal 300 does not fit i8 [E0308]
    store(b + i, load(b + i) + 300)
    # CHECK: error: the literal -1 does not fit u32 [E0308]
    store(u + i, load(u + i) * -1)
    # CHECK: error: the literal 4294967296 does not fit i32 [E0308]
    store(u + i, i + 4294967296)
    # CHECK-NOT: error:
