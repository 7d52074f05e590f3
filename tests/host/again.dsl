# A row that two loops need, and that nothing writes in between, is loaded by both: scratch has the exponentials alone.
# The next row is asked for where this one is computed longest.
# RUN: fsc %s --kernel=soft --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# RUN: fsc %s --kernel=written --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=KEPT
# CHECK-LABEL: define void @soft(
# CHECK: reduce:
# CHECK-NOT: prefetch
# CHECK-NOT: store
# CHECK: load <16 x float>
# CHECK-NOT: store
# CHECK: br i1 {{.*}}, label %reduce
# CHECK: reduce{{[0-9]+}}:
# CHECK: prefetch
# CHECK: load <16 x float>
# CHECK: store <16 x float>
# CHECK: store:
# CHECK: ret void
# KEPT-LABEL: define void @written(
# KEPT: reduce:
# KEPT: load <16 x float>
# KEPT: store <16 x float>
# KEPT: br i1 {{.*}}, label %reduce
# KEPT: ret void
@kernel(grid=(1,))
def soft(y: *fp32, x: *fp32):
    i = arange(0, 256)
    at = program_id(0) * 256 + i
    v = load(x + at)
    e = exp(v - max(v, axis=0))
    store(y + at, e / sum(e, axis=0))

@kernel(grid=(1,))
def written(y: *fp32, x: *fp32):
    i = arange(0, 256)
    at = program_id(0) * 256 + i
    v = load(x + at)
    m = max(v, axis=0)
    store(x + program_id(0) * 256, m)
    store(y + program_id(0), sum(exp(v - m), axis=0))
