# random.dsl - random numbers by counting: Philox-4x32-10 (and 4x64), the same numbers for the same seed and offset
# anywhere. After "Parallel random numbers: as easy as 1, 2, 3" (Salmon, Moraes, Dror, Shaw, 2011). A number depends on
# nothing else.

# The upper half of the product of two u32 or two u64.
@jit
def upper(x, y):
    if x.dtype == u32:
        return ((x.to(u64) * y.to(u64)) >> 32).to(u32)
    else:
        a, b = x & 0xffffffff, x >> 32
        c, d = y & 0xffffffff, y >> 32
        low, left, right = a * c, b * c, a * d
        middle = (low >> 32) + (left & 0xffffffff) + (right & 0xffffffff)
        return b * d + (left >> 32) + (right >> 32) + (middle >> 32)

@jit
def rounds(c0, c1, c2, c3, k0, k1, a: constexpr, b: constexpr, key0: constexpr, key1: constexpr, n_rounds: constexpr):
    t: constexpr = c0.dtype
    for _ in static_range(n_rounds):
        d0, d2 = c0, c2
        c0 = upper(cast(b, t), d2) ^ c1 ^ k0
        c2 = upper(cast(a, t), d0) ^ c3 ^ k1
        c1 = cast(b, t) * d2
        c3 = cast(a, t) * d0
        k0 = k0 + cast(key0, t)
        k1 = k1 + cast(key1, t)
    return c0, c1, c2, c3

# Counters and keys of 32 or of 64 bits, after the width of c0: four words of that width.
@jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: constexpr = 10):
    if c0.dtype.primitive_bitwidth == 32:
        return rounds(c0.to(u32), c1.to(u32), c2.to(u32), c3.to(u32), cast(k0, u32), cast(k1, u32), 0xD2511F53,
                      0xCD9E8D57, 0x9E3779B9, 0xBB67AE85, n_rounds)
    else:
        return rounds(c0.to(u64), c1.to(u64), c2.to(u64), c3.to(u64), cast(k0, u64), cast(k1, u64), 0xD2E7470EE14C6C93,
                      0xCA5A826395121157, 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B, n_rounds)

# The 64 bits of seed are both keys of 32 bits, or the first of 64.
@jit
def philox(seed, c0, c1, c2, c3, n_rounds: constexpr = 10):
    if c0.dtype.primitive_bitwidth == 32:
        s = cast(seed, i64)
        return philox_impl(c0, c1, c2, c3, s.to(u32), (s >> 32).to(u32), n_rounds)
    else:
        return philox_impl(c0, c1, c2, c3, cast(seed, u64), cast(0, u64), n_rounds)

@jit
def randint4x(seed, offset, n_rounds: constexpr = 10):
    low = cast(offset, u32)
    zero = low ^ low
    if cast(offset, offset.dtype).dtype.primitive_bitwidth > 32:
        return philox(seed, low, (offset >> 32).to(u32), zero, zero, n_rounds)
    else:
        return philox(seed, low, zero, zero, zero, n_rounds)

@jit
def randint(seed, offset, n_rounds: constexpr = 10):
    a, b, c, d = randint4x(seed, offset, n_rounds)
    return a

# The bits as a signed number, folded at 0 and scaled into [0, 1): the scale is the largest that never gives 1.
@jit
def uint_to_uniform_float(x):
    if x.dtype.primitive_bitwidth == 32:
        i = x.to(i32)
        return where(i < 0, ~i, i).to(fp32) * 4.6566127342e-10
    else:
        i = x.to(i64)
        return where(i < 0, ~i, i).to(fp32) * 1.0842020432385337e-19

@jit
def rand4x(seed, offset, n_rounds: constexpr = 10):
    a, b, c, d = randint4x(seed, offset, n_rounds)
    return uint_to_uniform_float(a), uint_to_uniform_float(b), uint_to_uniform_float(c), uint_to_uniform_float(d)

@jit
def rand(seed, offset, n_rounds: constexpr = 10):
    return uint_to_uniform_float(randint(seed, offset, n_rounds))

# Two uniform numbers become two independent normal ones (Box and Muller, 1958): a point's distance and direction. The
# first is kept above 0, where the distance would be infinite.
@jit
def pair_uniform_to_normal(u1, u2):
    distance = sqrt(log(maximum(u1, 1.0e-7)) * -2.0)
    angle = u2 * 6.283185307179586
    return distance * cos(angle), distance * sin(angle)

@jit
def randn4x(seed, offset, n_rounds: constexpr = 10):
    a, b, c, d = rand4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(a, b) + pair_uniform_to_normal(c, d)

@jit
def randn(seed, offset, n_rounds: constexpr = 10):
    a, b, c, d = rand4x(seed, offset, n_rounds)
    x, y = pair_uniform_to_normal(a, b)
    return x
