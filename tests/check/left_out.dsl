# RUN: fsc --emit=tile --passes= -D b=None %s -o - | FileCheck %s
# RUN: fsc --emit=tile --passes= --signature "*fp16, *fp16, None" %s -o - | FileCheck %s --check-prefix=HALF
# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s --check-prefix=BOTH
# RUN: not fsc -D x=None %s -o - 2>&1 | FileCheck %s --check-prefix=USED
# RUN: fsc run %s y=zeros:fp32[9] x=random:1:fp32[9] -D b=None --device=cpu | FileCheck %s --check-prefix=WORKS
# RUN: not fsc run %s y=zeros:fp32[9] x=random:1:fp32[9] --device=cpu 2>&1 | FileCheck %s --check-prefix=MISSING
# An array that is left out has no place in the call, and what it is needed for is not compiled.
# CHECK: func @k(%y: *fp32 {divisible = 4}, %x: *fp32 {divisible = 4}, %n: i32 {nonnegative}) stage
# CHECK-NOT: fadd
# HALF: func @k(%y: *fp16
# HALF-NOT: %b
# BOTH: %b: *fp32
# BOTH: fadd
# USED: error: {{.*}}None
# WORKS: k on cpu
# MISSING: buffer 'b' is missing
@kernel(grid=(1,))
def k(y: *T[n], x: *T[n], b: *T[n], n: i32, T: dtype = fp32):
    i = arange(0, 16)
    v = load(x + i, mask=i < n)
    if b is not None:
        v += load(b + i, mask=i < n)
    store(y + i, v, mask=i < n)
