# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Python's statements that kernels do not have, each reported.
# CHECK: bad_keywords.dsl:[[#@LINE+19]]:5: error: 'try' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK: bad_keywords.dsl:[[#@LINE+19]]:5: error: 'except' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK: bad_keywords.dsl:[[#@LINE+19]]:5: error: 'with' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK: bad_keywords.dsl:[[#@LINE+19]]:5: error: 'del' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK: bad_keywords.dsl:[[#@LINE+18]]:5: error: 'global' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK: bad_keywords.dsl:[[#@LINE+17]]:5: error: 'yield' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK: bad_keywords.dsl:[[#@LINE+16]]:5: error: 'class' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK: bad_keywords.dsl:[[#@LINE+16]]:5: error: 'async' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK-NOT: {{error|warning}}:
@kernel(grid=(1,))
def k(n: i32):
    try:
        x = 1
    except E:
        x = 2
    with a as b:
        pass
    del x
    global y
    yield 1
    class C:
        pass
    async = 1
