# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A name that some path leaves undefined: the error shows where it is assigned and which path does not.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    if n > 3:
        z = 1.0
    # CHECK: undefined_path.dsl:[[#@LINE+1]]:14: error: 'z' is not defined on every path to here [E0202]
    store(x, z)
    # CHECK-NEXT: if n > 3:
    # CHECK-NEXT: {{\| +----- and a path through here leaves it undefined}}
    # CHECK-NEXT: z = 1.0
    # CHECK-NEXT: {{\| +- it is assigned here$}}
    # CHECK-NEXT: store(x, z)
    # CHECK-NEXT: {{\| +\^$}}
    for i in range(n):
        w = 1.0
    # CHECK: error: 'w' is not defined on every path to here [E0202]
    store(x, w)
    # CHECK: and a path through here
    # Once is enough.
    store(x, z + w)
    # CHECK-NOT: error:
