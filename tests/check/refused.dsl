# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# What triton.language has and this compiler refuses is named, and a note says what to do.
# All of them: tests/docs/triton.py.
from triton.language import map_elementwise
from triton.language.extra.cuda import smid as where_am_i

@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    v = load(x + arange(0, 16))
    # CHECK: refused.dsl:[[#@LINE+3]]:9: error: 'inline_asm_elementwise' of triton.language is not compiled: it is instructions of one target in the source [E0903]
    # CHECK: ^~~
    # CHECK: note: every kernel compiles for every target
    b = inline_asm_elementwise("", "", [v], fp32, True, 1)
    # CHECK: error: 'map_elementwise' of triton.language is not compiled
    c = map_elementwise(k, v)
    # CHECK: error: 'smid' of triton.language is not compiled
    d = where_am_i()
    # CHECK: error: 'float8e4b15' of triton.language is not compiled
    e = v.to(tl.float8e4b15)
    # CHECK: error: the module tl has no 'dot_scale'
    # CHECK-NOT: error:
    f = tl.dot_scale(v, v)
