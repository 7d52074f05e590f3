# Two rows of which parts stay on chip and parts are loaded again, in place. Blocks that have counted what comes know
# that all of the rows has come, by copies and by loads of loops one behind the other: they meet at no store.
# RUN: fsc %s --arch=sm_90 --print-after=barrier -D BLOCK=1048576 -o /dev/null --verify-each \
# RUN:   --signature "*fp32:16,*fp32:16,1048576,1048576,fp32" 2>&1 | FileCheck %s
# CHECK: copy_async
# CHECK: barrier cluster {begin}
# CHECK-NOT: barrier
# CHECK: copy_async
# CHECK-NOT: barrier
# CHECK: {{^  store }}
# CHECK-NOT: barrier
# CHECK: {{^    store }}
# CHECK-NOT: barrier
# CHECK: {{^    store }}
# CHECK-NOT: barrier
@kernel
def twice(x: *T, z: *T, n: i32, BLOCK: constexpr = 1, T: dtype = fp32):
    cols = arange(0, BLOCK)
    mask = cols < n
    v = load(x + cols, mask=mask, other=-inf)
    u = load(z + cols, mask=mask, other=0)
    e = exp(v - max(v, axis=0)) * (1.0 + u)
    store(x + cols, e / sum(e, axis=0), mask=mask)
