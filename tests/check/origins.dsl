# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# Where types meet wrongly, each operand says what it is, and each that has a name where it got that: one block an error.
@jit
# CHECK: origins.dsl:[[#@LINE+7]]:12: error: tile<1024xfp32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK-NEXT: {{^ *}}[[#@LINE+5]] | def add(a, b):
# CHECK-NEXT: {{^      \|         -  - 'b' is tile<512xi32>, from here$}}
# CHECK-NEXT: {{^      \|         'a' is tile<1024xfp32>, from here$}}
# CHECK-NEXT: return a + b
# CHECK-NEXT: {{^      \|            \^~~~- tile<512xi32>$}}
def add(a, b):
    return a + b

@kernel(grid=(1,))
# CHECK-NEXT: {{^      \|            tile<1024xfp32>$}}
# CHECK-NEXT: add(load(p
# CHECK-NEXT: ---- in the call of 'add' from here
# CHECK: error: 'mask' of 'store' is tile<1024xi1>, and the pointer is tile<512x1x*fp32> [E0402]
# CHECK-NEXT: | q = p
# CHECK-NEXT: - 'q', the 'pointer' of 'store', is tile<512x1x*fp32>, from here
# CHECK-NEXT: | mask = arange
# CHECK-NEXT: ---- 'mask' is tile<1024xi1>, from here
# CHECK: error: tile<1024xi32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK-NEXT: | wide = arange
# CHECK-NEXT: ---- 'wide' is tile<1024xi32>, from here
# CHECK-NEXT: | half = arange
# CHECK-NEXT: ---- 'half' is tile<512xi32>, from here
# CHECK-NEXT: a = wide < half
# CHECK: error: tile<1024xi32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK: 'wide', the 'x' of 'maximum', is tile<1024xi32>, from here
# CHECK: 'half', the 'y' of 'maximum', is tile<512xi32>, from here
# CHECK: b = maximum(wide, half)
# What is no name shows its own place, and the name that it begins with.
# CHECK: error: tile<512x1xi32> and tile<1024x1xi32> have shapes that do not broadcast [E0313]
# CHECK: 'wide' is tile<1024xi32>, from here
# CHECK: 'half' is tile<512xi32>, from here
# CHECK-NEXT: e = half[:, None] + wide.reshape(1024, 1)
# CHECK-NEXT: | {{\^------------~~~--------------------- tile<1024x1xi32>$}}
# CHECK-NEXT: | tile<512x1xi32>
# CHECK: error: tile<1024xi1> and tile<512xi1> have shapes that do not broadcast [E0313]
# CHECK: 'wide' is tile<1024xi32>, from here
# CHECK: 'half' is tile<512xi32>, from here
# CHECK: error: tile<1024xi1> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK: 'half', the 'x' of 'where', is tile<512xi32>, from here
# CHECK-NEXT: | 'half', the 'y' of 'where', is tile<512xi32>, from here
# CHECK-NEXT: f = where(
# CHECK-NEXT: | {{\^~~~~~--------~~~~~~~~~~~~~$}}
# CHECK-NEXT: | 'condition' of 'where' is tile<1024xi1>
# CHECK: error: 'reduce' takes tiles of one shape, not tile<1024xi32> and tile<512xi32> [E0321]
# CHECK: 'wide' is tile<1024xi32>, from here
# CHECK: 'half' is tile<512xi32>, from here
# CHECK: error: tile<1024xi32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK: 'wide', the 'i' of 'swizzle2d', is tile<1024xi32>, from here
# CHECK: 'half', the 'j' of 'swizzle2d', is tile<512xi32>, from here
# CHECK: --> lib/order.dsl:{{[0-9]+:[0-9]+$}}
# CHECK: found here, in 'swizzle2d' of the standard library
# CHECK: error: tile<1024xi32> and tile<512xi32> have shapes that do not broadcast [E0313]
# CHECK: 'wide' is tile<1024xi32>, from here
# CHECK: wide += half
# CHECK: error: '//' between i32 and u32: one is signed, the other is not [E0303]
# CHECK-NEXT: def k
# CHECK-NEXT: ------ 'u' is u32, from here
# CHECK-NEXT: 'n' is i32, from here
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
