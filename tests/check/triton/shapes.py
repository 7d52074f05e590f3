# RUN: fsc --emit=tile --passes= --signature "*i32, *i32, i32" %s -o - 2>/dev/null | FileCheck %s
# RUN: cp %s %t.dsl && not fsc --error-limit=0 --kernel k --emit=tile --passes= --signature "*i32, *i32, i32" %t.dsl \
# RUN:   -o - 2>&1 | FileCheck --check-prefix=DSL %s
# What Triton allows of shapes: pointers grow to their mask, a scalar has as many `:` as one likes.
import triton
import triton.language as tl


@triton.jit
def k(y, x, n):
    i = tl.arange(0, 16)
    rows = tl.arange(0, 4)[:, None] < n
    # CHECK: [[P:%.*]] = broadcast %{{.*}} : tile<4x16x*i32>
    # CHECK: load [[P]], %{{.*}}, %{{.*}} : tile<4x16xi32>
    # DSL: shapes.py.tmp.dsl:[[#@LINE+1]]:33: error: 'mask' of 'load' is tile<4x1xi1>, and the pointer is tile<1x16x*i32> [E0402]
    v = tl.load(x + i[None, :], mask=rows, other=0)
    # CHECK: load %{{.*}}, %{{.*}}, %{{.*}} : tile<1x16xi32>
    w = tl.load(x + i, mask=i < n, other=i[None, :])
    # DSL: error: 1 dimensions indexed in i32, which has 0 [E0319]
    p = tl.program_id(0)[:, None]
    q = n[None, :, None]
    tl.static_assert(v.shape == (4, 16) and w.shape == (1, 16) and p.shape == (1,) and q.shape == (1, 1) and n[:].shape == ())
    tl.store(y + i[None, :] + p + q + 16 * tl.arange(0, 4)[:, None], v + w)
