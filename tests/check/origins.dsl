# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# Where types meet wrongly, each operand that has a name says what it is and where it got that.
@jit
# CHECK: origins.dsl:[[#@LINE+4]]:12: error: tile<1024xfp32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK: origins.dsl:[[#@LINE+2]]:9: note: 'a' is tile<1024xfp32>, from here
# CHECK: origins.dsl:[[#@LINE+1]]:12: note: 'b' is tile<512xi32>, from here
def add(a, b):
    return a + b

@kernel(grid=(1,))
# CHECK: error: 'mask' of 'store' is tile<1024xi1>, and the pointer is tile<512x1x*fp32> [E0402]
# CHECK: note: 'q', the 'pointer' of 'store', is tile<512x1x*fp32>, from here
# CHECK-NEXT: {{^      }}q = p
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
# CHECK: note: 'wide', the 'x' of 'maximum', is tile<1024xi32>, from here
# CHECK: note: 'half', the 'y' of 'maximum', is tile<512xi32>, from here
# What is no name shows its own place, and the name that it begins with.
# CHECK: error: tile<512x1xi32> and tile<1024x1xi32> have shapes that do not broadcast [E0313]
# CHECK: note: 'half' is tile<512xi32>, from here
# CHECK: note: 'wide' is tile<1024xi32>, from here
# CHECK: error: tile<1024xi1> and tile<512xi1> have shapes that do not broadcast [E0313]
# CHECK: note: 'wide' is tile<1024xi32>, from here
# CHECK: note: 'half' is tile<512xi32>, from here
# CHECK: error: tile<1024xi1> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK: origins.dsl:[[#@LINE+30]]:15: note: 'condition' of 'where' is tile<1024xi1>
# CHECK: note: 'half', the 'x' of 'where', is tile<512xi32>, from here
# CHECK: error: 'reduce' takes tiles of one shape, not tile<1024xi32> and tile<512xi32> [E0321]
# CHECK: note: 'wide' is tile<1024xi32>, from here
# CHECK: note: 'half' is tile<512xi32>, from here
# CHECK: error: tile<1024xi32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK: lib/order.dsl:{{[0-9]+}}:{{[0-9]+}}: note: found here, in 'swizzle2d' of the standard library
# CHECK: note: 'wide', the 'i' of 'swizzle2d', is tile<1024xi32>, from here
# CHECK: note: 'half', the 'j' of 'swizzle2d', is tile<512xi32>, from here
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
    e = half[:, None] + wide.reshape(1024, 1)
    i = (wide < n) & (half < n)
    f = where(wide > n, half, half)
    g = reduce((wide, half), 0, add)
    h = swizzle2d(wide, half, n, n, n)
    wide += half
    c = n // u
    one = load(p)
    d = one & n
    add(load(p + arange(0, 1024)), half)
