# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# What triton.language has and this compiler refuses is named, and a note says what to do.
# All of them: tests/docs/triton.py.
from triton.language import bitonic_merge as merged
from triton.language.extra.cuda import smid as where_am_i

@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    v = load(x + arange(0, 16))
    # CHECK: refused.dsl:[[#@LINE+3]]:9: error: 'bitonic_merge' of triton.language is not compiled: it is a step of a sort [E0903]
    # CHECK: ^~~
    # CHECK: note: sort(x) sorts a whole axis
    b = bitonic_merge(v)
    # CHECK: error: inline_asm_elementwise does not compile 'ld.global.b32', before '[$1]' [E0904]
    # CHECK: note: plain arithmetic of PTX
    g = inline_asm_elementwise("ld.global.b32 $0, [$1];", "=r,l", [v], fp32, True, 1)
    # CHECK: error: 'bitonic_merge' of triton.language is not compiled
    c = merged(v)
    # CHECK: error: 'smid' of triton.language is not compiled
    d = where_am_i()
    # CHECK: error: 'float8e4b15' of triton.language is not compiled
    e = v.to(tl.float8e4b15)
    # CHECK: error: the module tl has no 'dot_scale'
    # CHECK-NOT: error:
    f = tl.dot_scale(v, v)
