# RUN: exits 1 fsc %s -o - 2>&1 | FileCheck %s
# Errors of syntax in one function do not hide errors of meaning in another; what they hide is not reported twice.
@jit
def broken(x):
    # CHECK: syntax_then_check.dsl:[[#@LINE+1]]:12: error: the end of the line cannot stand here [E0119]
    y = x +
    return z

@jit
def whole(x):
    # CHECK: syntax_then_check.dsl:[[#@LINE+1]]:12: error: unknown name 'n_cls' [E0201]
    return n_cls + x

@kernel(grid=(1,))
def k(x: *fp32, n_cols: i32):
    v = broken(load(x))
    store(x, v)
    whole(load(x))
    # CHECK: syntax_then_check.dsl:[[#@LINE+1]]:11: error: unknown name 'm_cols'; did you mean 'n_cols'? [E0201]
    store(m_cols, v)
# CHECK-NOT: error:
