# RUN: fsc %s --kernel loud -o %t 2>&1 | FileCheck %s
# RUN: fsc %s --kernel silent -o %t 2>&1 | FileCheck --check-prefix=SILENT --allow-empty %s
# Reductions over what a masked load left out.
@kernel(grid=(1,))
def loud(x: *fp32, h: *fp16, k: *i32, b: *i8, y: *fp32, n: i32):
    c = arange(0, 128)
    v = load(x + c, mask=c < n)
    # CHECK: warn_padding.dsl:[[#@LINE+4]]:14: warning: this maximum counts the masked-off elements, which are 0 [W0403]
    # CHECK: they are made here, with no other=; -inf is neutral
    # CHECK: [[#@LINE+2]]:{{[0-9]+}}: warning: this minimum counts the masked-off elements, which are 0 [W0403]
    # CHECK: they are made here, with no other=; inf is neutral
    store(y, max(v, axis=0) + min(load(h + c, mask=c < n).to(fp32), axis=0))
    # CHECK: warning: this sum counts the masked-off elements, which are 1 [W0403]
    store(y, sum(load(x + c, mask=c < n, other=1.0), axis=0))
    # CHECK: warning: this maximum counts the masked-off elements, which are inf [W0403]
    # CHECK: they are made here; -inf is neutral
    store(y, max(load(x + c, mask=c < n, other=inf), axis=0))
    # CHECK: warning: this minimum counts the masked-off elements, which are -128 [W0403]
    # CHECK: they are made here; the largest value is neutral
    store(y, min(load(b + c, mask=c < n, other=-128), axis=0))
    # CHECK: warning: this maximum counts the masked-off elements, which are 0 [W0403]
    # CHECK: they are made here, with no other=; the least value is neutral
    # CHECK-NOT: warning:
    store(y, max(load(k + c, mask=c < n), axis=0))

# Neutral, far away, chosen for what is loaded (lengths, sizes, flags), chosen by a `where`, masked along another axis,
# not masked, masked with what is always true, or only known at run time.
# SILENT-NOT: warning:
@kernel(grid=(1,))
def silent(x: *fp32, k: *u32, lengths: *i32, y: *fp32, n: i32, N: constexpr = 256):
    c = arange(0, 128)
    r = arange(0, 8)
    store(y, max(load(x + c, mask=c < n, other=-inf), axis=0))
    store(y, max(load(x + c, mask=c < n, other=-1e9), axis=0))
    store(y, sum(load(x + c, mask=c < n), axis=0))
    store(y, max(load(k + c, mask=c < n), axis=0))
    store(y, max(where(c < n, load(x + c), 0.0), axis=0))
    store(y + r, max(load(x + r[:, None] * 128 + c[None, :], mask=r[:, None] < n), axis=1))
    store(y, max(load(x + c), axis=0))
    store(y, max(load(x + c, mask=c < n, other=load(y)), axis=0))
    store(y, max(load(lengths + c, mask=c < n, other=0), axis=0))
    store(y, max(load(x + c, mask=c < n, other=0.0), axis=0))
    store(y, min(load(lengths + c, mask=c < n, other=1), axis=0))
    store(y, max(load(lengths + c, mask=c < n, other=7), axis=0))
    store(y + r, max(load(x + r[:, None] * 128 + c[None, :], mask=(r[:, None] < n) & (c[None, :] < N)), axis=1))
    longest = 0
    for first in range(0, N, 128):
        longest = maximum(longest, max(load(lengths + first + c, mask=first + c < N), axis=0))
    store(y, longest)
