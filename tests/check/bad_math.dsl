# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# What the mathematical functions refuse.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    v = load(x)
    # CHECK: bad_math.dsl:[[#@LINE+2]]:{{[0-9]+}}: error: '**' of integers takes an exponent known at compile time, from 0 to 1024, and here it is i32 [E0805]
    # CHECK: note: convert one side first, as in x.to(fp32) ** y
    a = n ** n
    # CHECK: error: 'x' of 'umulhi' must be an integer or a tile of integers, not fp32 [E0317]
    b = umulhi(v, n)
    # CHECK: error: 'x' of 'umulhi' must be an integer or a tile of integers, not *fp32 [E0317]
    c = umulhi(x, n)
    # CHECK: error: 'div_rn' takes floats, not i32 and i32 [E0317]
    d = div_rn(n, n)
    # CHECK: error: 'y' of 'div_rn' must be a number or a tile of numbers, not *fp32 [E0317]
    e = div_rn(v, x)
    # CHECK: error: 'erf' takes a float, not i32 [E0317]
    # CHECK: note: convert it first, as in erf(x.to(fp32))
    f = erf(n)
    # CHECK: error: 'floor' takes a float, not i32 [E0317]
    g = floor(n)
    # CHECK: error: 'libdevice.round' takes a float, not i32 [E0317]
    h = libdevice.round(n)
    # CHECK: error: 'atan2' takes floats, not i32 and i32 [E0317]
    # CHECK: note: convert one of them first, as in x.to(fp32)
    o = atan2(n, n)
    # CHECK: error: 'y' of 'fmod' must be a number or a tile of numbers, not *fp32 [E0317]
    p = fmod(v, x)
    # CHECK: error: 'cbrt' takes a float, not i32 [E0317]
    # CHECK: note: convert it first, as in cbrt(x.to(fp32))
    q = cbrt(n)
    # CHECK: error: 'n' of 'ldexp' must be an integer or a tile of integers, not fp32 [E0317]
    r = ldexp(v, 2.0 * v)
    # CHECK: error: 'scalbn' takes a float, not i32 [E0317]
    t = scalbn(n, 2)
    # CHECK: error: {{.*}}hypot{{.*}}
    s = libdevice.hypot(v)
    # CHECK-NOT: error:
