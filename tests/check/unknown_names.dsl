# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# An unknown name suggests the nearest known one, and is reported once.
@kernel(grid=(1,))
def k(x: *fp32, n_cols: i32):
    # CHECK: unknown_names.dsl:[[#@LINE+1]]:9: error: unknown name 'laod'; did you mean 'load'? [E0201]
    v = laod(x)
    # CHECK: error: unknown name 'ncols'; did you mean 'n_cols'? [E0201]
    w = ncols + 1
    # CHECK: error: the module tl has no 'exq'; did you mean 'exp'? [E0209]
    e = tl.exq(load(x))
    # CHECK: error: fp32 has no 'summ'; did you mean 'sum'? [E0209]
    s = load(x).summ()
    # CHECK: error: unknown name 'completely_different' [E0201]
    # CHECK-NOT: did you mean
    z = completely_different
    # CHECK: error: unknown name 'fp3'; did you mean 'fp32'? [E0201]
    y = load(x).to(fp3)
    # CHECK: error: unknown name 'bfloat15'; did you mean 'bfloat16'? [E0201]
    a = load(x).to(bfloat15)
    # CHECK: error: the module tl has no 'flaot32'; did you mean 'float32'? [E0209]
    b = load(x).to(tl.flaot32)
    # CHECK: error: fp32 has no 'dtyp'; did you mean 'dtype'? [E0209]
    c = load(x).dtyp
    # CHECK: error: unknown name 'ture'; did you mean 'True'? [E0201]
    d = load(x, ture)
    # Of three letters, one may be wrong: no 'to' for 'foo'.
    # CHECK: error: fp32 has no 'foo' [E0209]
    f = load(x).foo
    # What follows from a wrong name stays silent.
    store(x, v + w + e + s + z + y + laod(x))
    # CHECK-NOT: error:
