# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# Where types meet wrongly, each operand that has a name says what it is and where it got that.
@jit
# CHECK: origins.dsl:[[#@LINE+4]]:12: error: tile<1024xfp32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK: origins.dsl:[[#@LINE+2]]:9: note: 'a' is tile<1024xfp32>, from here
# CHECK: origins.dsl:[[#@LINE+1]]:12: note: 'b' is tile<512xi32>, from here
def add(a, b):
    return a + b

@kernel(grid=(1,))
# CHECK: error: the mask is tile<1024xi1>, and the pointer is tile<512x1x*fp32> [E0402]
# CHECK: note: 'q' is tile<512x1x*fp32>, from here
# CHECK-NEXT: {{^      }}q = p
# CHECK: note: 'x' is tile<512x1xfp32>, from here
# CHECK: note: 'mask' is tile<1024xi1>, from here
# CHECK-NEXT: {{^      }}mask = arange
# CHECK: error: tile<1024xi32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK-NEXT: a = wide < half
# CHECK: note: 'wide' is tile<1024xi32>, from here
# CHECK-NEXT: {{^      }}wide = arange
# CHECK: note: 'half' is tile<512xi32>, from here
# CHECK-NEXT: {{^      }}half = arange
# CHECK: error: tile<1024xi32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK-NEXT: b = maximum(wide, half)
# CHECK: note: 'wide' is tile<1024xi32>, from here
# CHECK: note: 'half' is tile<512xi32>, from here
# CHECK: error: tile<1024xi32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK-NEXT: wide += half
# CHECK: note: 'wide' is tile<1024xi32>, from here
# CHECK: error: '//' between i32 and u32: one is signed, the other is not [E0303]
# CHECK: note: 'n' is i32, from here
# CHECK-NEXT: def k
# CHECK: note: 'u' is u32, from here
# An error that is about one operand names none.
# CHECK: error: '&' takes integers, not fp32 [E0302]
# CHECK-NOT: from here
def k(p: *fp32, n: i32, u: u32):
    q = p + arange(0, 512)[:, None]
    x = load(q)
    mask = arange(0, 1024) < n
    store(q, x, mask=mask)
    wide = arange(0, 1024)
    half = arange(0, 512)
    a = wide < half
    b = maximum(wide, half)
    wide += half
    c = n // u
    one = load(p)
    d = one & n
    add(load(p + arange(0, 1024)), half)
