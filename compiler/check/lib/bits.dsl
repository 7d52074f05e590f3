# bits.dsl - integers of 32 and 64 bits as rows of bits: libdevice's popc clz ffs brev, and sums that do not overflow.

@jit
def unsigned(x):
    static_assert(x.dtype.primitive_bitwidth >= 32, "integers of 32 or 64 bits; convert it first, as in x.to(i32)")
    return x.to(u64, bitcast=True) if x.dtype.primitive_bitwidth == 64 else x.to(u32, bitcast=True)

# The byte b in every byte of a number as wide as v.
@jit
def repeated(v, b: constexpr):
    return b * (0x0101010101010101 if v.dtype.primitive_bitwidth == 64 else 0x01010101)

# Sums of pairs, of four and of eight bits; the product adds the bytes in the highest one.
@jit
def popc(x):
    v = unsigned(x)
    v = v - ((v >> 1) & repeated(v, 0x55))
    v = (v & repeated(v, 0x33)) + ((v >> 2) & repeated(v, 0x33))
    v = (v + (v >> 4)) & repeated(v, 0x0f)
    return ((v * repeated(v, 1)) >> (v.dtype.primitive_bitwidth - 8)).to(i32)

# The bits above the highest one.
@jit
def clz(x):
    v = unsigned(x)
    for e in static_range(6 if v.dtype.primitive_bitwidth == 64 else 5):
        v = v | (v >> (1 << e))
    return popc(~v)

# The place of the lowest bit, from 1: x ^ (x - 1) has that one and those below.
@jit
def ffs(x):
    v = unsigned(x)
    return where(v == 0, 0, popc(v ^ (v - 1)))

# Neighbours change places: bits, pairs, fours, bytes, and so on.
@jit
def brev(x):
    v = unsigned(x)
    bits: constexpr = v.dtype.primitive_bitwidth
    for e in static_range(6 if bits == 64 else 5):
        mask: constexpr = (0xffffffffffffffff if bits == 64 else 0xffffffff) // ((1 << (1 << e)) + 1)
        v = ((v & mask) << (1 << e)) | ((v >> (1 << e)) & mask)
    return v.to(x.dtype, bitcast=True)

@jit
def mulhi(x, y):
    high = umulhi(x, y)
    if x.dtype.is_int_signed() and y.dtype.is_int_signed():
        return high - where(x < 0, y, 0) - where(y < 0, x, 0)
    else:
        return high

# Four of the eight bytes of x and, above it, y; each four bits of s say which.
@jit
def byte_perm(x, y, s):
    both = (unsigned(y).to(u64) << 32) | unsigned(x).to(u64)
    r = unsigned(x) & 0
    for i in static_range(4):
        place = ((unsigned(s) >> (4 * i)) & 7) * 8
        r = r | (((both >> place.to(u64)) & 0xff).to(u32) << (8 * i))
    return r.to(i32, bitcast=True)

@jit
def sad(x, y, z):
    return where(x > y, x - y, y - x) + z

@jit
def hadd(x, y):
    return (x & y) + ((x ^ y) >> 1)

@jit
def rhadd(x, y):
    return (x | y) - ((x ^ y) >> 1)
