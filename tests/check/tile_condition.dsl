# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A tile is no condition: the message says what to write.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    i = arange(0, 16)
    # CHECK: tile_condition.dsl:[[#@LINE+2]]:8: error: the condition of 'if' is tile<16xi1>, and a condition must be a scalar [E0306]
    # CHECK: note: choose per element with where(condition, a, b)
    if i < n:
        store(x, 1.0)
    # CHECK: error: the condition of 'while' is tile<16xi1>
    while i < n:
        i += 1
    # CHECK: error: the condition of 'if … else' is tile<16xi1>
    a = 1 if i < n else 2
    # CHECK: error: 'and' takes scalars, and this is tile<16xi1> [E0305]
    # CHECK: note: per element write (a) & (b)
    b = i < n and i > 2
    # CHECK: error: 'or' takes scalars, and this is tile<16xi1> [E0305]
    # CHECK: note: per element write (a) | (b)
    c = n > 2 or i > 2
    # CHECK: error: 'not' of tile<16xi1>
    # CHECK: note: per element write ~x
    d = not (i < n)
    # CHECK: error: a chain of comparisons of tiles [E0305]
    # CHECK: note: write it as (a < b) & (b < c)
    e = 0 < i < n
    # CHECK: error: the condition of 'if' is a pointer
    if x:
        store(x, 1.0)
    # CHECK-NOT: error:
