# sort.dsl - bitonic networks over keys: integers that have the order of the elements. A tile is
# (outer, n, inner), sorted along n.
#
# Each step compares elements whose indexes differ by a mask: between registers it only renames them,
# between lanes it is a shuffle.

MOST_BITS = 20  # of a tile

# In the order of the keys NaN comes after all numbers, and +0 after -0;
# with all bits turned the order is the other way round.
@jit
def key_of(x, descending: constexpr):
    if x.dtype == fp64:
        k = float_key(x, x.to(i64, bitcast=True), 0x7fffffffffffffff)
    elif x.dtype == fp32:
        k = float_key(x, x.to(i32, bitcast=True), 0x7fffffff)
    elif x.dtype == fp16 or x.dtype == bf16:
        k = float_key(x, x.to(i16, bitcast=True).to(i32), 0x7fff)
    elif x.dtype.primitive_bitwidth < 32:
        k = x.to(i32)
    else:
        k = x
    return ~k if descending else k ^ 0

# The bits of a negative float count down from -0.
@jit
def float_key(x, bits, most: constexpr):
    return where(x != x, most, bits ^ ((bits >> 63) & most))

@jit
def element_of(key, t: constexpr, descending: constexpr):
    k = ~key if descending else key
    if t == fp64:
        return (k ^ ((k >> 63) & 0x7fffffffffffffff)).to(fp64, bitcast=True)
    elif t == fp32:
        return (k ^ ((k >> 63) & 0x7fffffff)).to(fp32, bitcast=True)
    elif t == fp16 or t == bf16:
        return (k ^ ((k >> 63) & 0x7fff)).to(i16).to(t, bitcast=True)
    else:
        return k.to(t)

# Along n, aligned runs of `run` elements turned round.
@jit
def turned(x, outer: constexpr, n: constexpr, inner: constexpr, run: constexpr):
    return x.reshape(outer * n // run, run, inner).flip(1).reshape(outer, n, inner)

@jit
def has_bit(n: constexpr, distance: constexpr):
    return (arange(0, n) & distance)[None, :, None] != 0

# Elements a distance apart, the smaller one first; bitonic runs of twice the distance end up sorted.
@jit
def merged(x, outer: constexpr, n: constexpr, inner: constexpr, distance: constexpr):
    for i in static_range(MOST_BITS):
        if distance >> i:
            d = distance >> i
            y = turned(x, outer * n // (2 * d), 2, d * inner, 2).reshape(outer, n, inner)
            x = where(has_bit(n, d), maximum(x, y), minimum(x, y))
    return x

# Runs of `run` elements become sorted: pairs of sorted runs, the second one read backwards, are bitonic.
@jit
def sorted_runs(x, outer: constexpr, n: constexpr, inner: constexpr, run: constexpr):
    for i in static_range(MOST_BITS):
        if 2 << i <= run:
            y = turned(x, outer, n, inner, 2 << i)
            x = where(has_bit(n, 1 << i), maximum(x, y), minimum(x, y))
            x = merged(x, outer, n, inner, 1 << i >> 1)
    return x

@jit
def sort(x, outer: constexpr, n: constexpr, inner: constexpr, descending: constexpr):
    k = sorted_runs(key_of(x, descending), outer, n, inner, n)
    return element_of(k, x.dtype, descending)

# Of two sorted runs, one read backwards, the smaller elements of each pair are the smallest in all, and bitonic.
@jit
def topk(x, outer: constexpr, n: constexpr, inner: constexpr, k: constexpr, descending: constexpr):
    key = sorted_runs(key_of(x, descending), outer, n, inner, k)
    for i in static_range(MOST_BITS):
        if n >> i > k:
            key = where(has_bit(n >> i, k), turned(key, outer, n >> i, inner, k), key)
            key = min(key.reshape(outer * (n >> i) // (2 * k), 2, k * inner), axis=1).reshape(outer, n >> i >> 1, inner)
            key = merged(key, outer, n >> i >> 1, inner, k >> 1)
    return element_of(key, x.dtype, descending)
