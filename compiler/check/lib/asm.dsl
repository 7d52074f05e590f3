# asm.dsl - instructions of PTX in the kernel language: what inline_asm_elementwise asks for, one element of each
# register at a time. A function ptx_<op> is the instruction of that name; its operands come in the instruction's type,
# predicates as truth values, literals as constants.

@jit
def as_bits(x):
    if x.dtype.primitive_bitwidth == 64:
        return x.to(u64, bitcast=True)
    elif x.dtype.primitive_bitwidth == 32:
        return x.to(u32, bitcast=True)
    elif x.dtype.primitive_bitwidth == 16:
        return x.to(u16, bitcast=True)
    elif x.dtype.primitive_bitwidth == 8:
        return x.to(u8, bitcast=True)
    else:
        return x.to(u8)

# The low bits of a register as a value of type t; of a narrower one with zeros above.
@jit
def as_type(x, t: constexpr):
    if x.dtype == i1 or x.dtype == t:
        return x
    elif t.primitive_bitwidth == 64:
        return as_bits(x).to(u64).to(t, bitcast=True)
    elif t.primitive_bitwidth == 32:
        return as_bits(x).to(u32).to(t, bitcast=True)
    elif t.primitive_bitwidth == 16:
        return as_bits(x).to(u16).to(t, bitcast=True)
    else:
        return as_bits(x).to(u8).to(t, bitcast=True)

# The type of a register that holds n values of so many bits each.
@jit
def register_type(bits: constexpr, n: constexpr):
    return u64 if bits * n == 64 else u32 if bits * n == 32 else u16 if bits * n == 16 else u8

# Values in one register, the first in the low bits; and back.
@jit
def pack(values, bits: constexpr):
    t: constexpr = register_type(bits, len(values))
    r = as_type(values[0], register_type(bits, 1)).to(t)
    for i in static_range(1, len(values)):
        r = r | (as_type(values[i], register_type(bits, 1)).to(t) << (i * bits))
    return r

@jit
def unpack(x, n: constexpr, bits: constexpr):
    v = as_type(x, register_type(bits, n))
    r = ()
    for i in static_range(n):
        r = r + ((v >> (i * bits)).to(register_type(bits, 1)),)
    return r

# ---- Elements of a tile and registers -----------------------------------------------------------------------------

# n tiles: of each n elements that follow one another the first, the second, ….
@jit
def parted(x, n: constexpr):
    rows: constexpr = x.numel // n
    r = (x.reshape(rows, n),)
    for e in static_range(5):
        if n >> e > 1:
            halves = ()
            for i in static_range(len(r)):
                a, b = split(r[i].reshape(rows, 2, n >> (e + 1)).trans(0, 2, 1))
                halves = halves + ((a, b) if n >> e > 2 else (a.reshape(rows), b.reshape(rows)))
            r = halves
    return r

@jit
def united(parts, shape: constexpr):
    rows: constexpr = parts[0].numel
    r = parts
    for e in static_range(5):
        if len(parts) >> e > 1:
            pairs = ()
            for i in static_range(len(r) // 2):
                both = join(r[2 * i].reshape(rows, 1 << e), r[2 * i + 1].reshape(rows, 1 << e))
                pairs = pairs + (both.trans(0, 2, 1).reshape(rows, 2 << e),)
            r = pairs
    return r[0].reshape(shape)

# The registers that hold the elements of an argument: those of fewer than 32 bits share one.
@jit
def registers(x, n: constexpr):
    if n == 1:
        return (x,)
    else:
        bits: constexpr = x.dtype.primitive_bitwidth
        parts = parted(x, n)
        if bits >= 32:
            return parts
        elif bits * n <= 32:
            return (pack(parts, bits),)
        else:
            each: constexpr = 32 // bits
            r = ()
            for i in static_range(n // each):
                r = r + (pack(parts[i * each:(i + 1) * each], bits),)
            return r

# The tile of type t whose elements the registers hold.
@jit
def elements(regs, t: constexpr, n: constexpr, shape: constexpr):
    if n == 1:
        return as_type(regs[0], t)
    else:
        bits: constexpr = t.primitive_bitwidth
        if bits >= 32:
            parts = regs
        else:
            each: constexpr = n if bits * n <= 32 else 32 // bits
            parts = ()
            for i in static_range(len(regs)):
                parts = parts + unpack(regs[i], each, bits)
        return as_type(united(parts, shape), t)

# ---- Instructions -------------------------------------------------------------------------------------------------

@jit
def ptx_mov(a):
    return a

@jit
def ptx_add(a, b):
    return a + b

@jit
def ptx_sub(a, b):
    return a - b

@jit
def ptx_mul(a, b):
    return a * b

@jit
def ptx_mul_hi(a, b):
    return umulhi(a, b) if a.dtype.is_int_unsigned() else mulhi(a, b)

@jit
def ptx_fma(a, b, c):
    return fma(a, b, c)

@jit
def ptx_mad(a, b, c):
    return a * b + c

@jit
def ptx_div(a, b):
    return a / b if a.dtype.is_floating() else a // b

@jit
def ptx_rem(a, b):
    return a % b

@jit
def ptx_min(a, b):
    return minimum(a, b)

@jit
def ptx_max(a, b):
    return maximum(a, b)

@jit
def ptx_min_NaN(a, b):
    return minimum(a, b, propagate_nan=True)

@jit
def ptx_max_NaN(a, b):
    return maximum(a, b, propagate_nan=True)

@jit
def ptx_abs(a):
    return abs(a)

@jit
def ptx_neg(a):
    return -a

@jit
def ptx_and(a, b):
    return a & b

@jit
def ptx_or(a, b):
    return a | b

@jit
def ptx_xor(a, b):
    return a ^ b

@jit
def ptx_not(a):
    return ~a

@jit
def ptx_shl(a, b):
    return a << b

# The 64 bits of b and a, a in the low ones, by so many to the left: the upper half; to the right: the lower half.
@jit
def ptx_shf_l_wrap(a, b, n):
    return ((b.to(u64) << 32 | a.to(u64)) << (n & 31).to(u64) >> 32).to(a.dtype)

@jit
def ptx_shf_r_wrap(a, b, n):
    return ((b.to(u64) << 32 | a.to(u64)) >> (n & 31).to(u64)).to(a.dtype)

@jit
def ptx_shf_l_clamp(a, b, n):
    return ((b.to(u64) << 32 | a.to(u64)) << minimum(n, 32).to(u64) >> 32).to(a.dtype)

@jit
def ptx_shf_r_clamp(a, b, n):
    return ((b.to(u64) << 32 | a.to(u64)) >> minimum(n, 32).to(u64)).to(a.dtype)

@jit
def ptx_shr(a, b):
    return a >> b

# Each bit of the table says what becomes of one combination of bits.
@jit
def ptx_lop3(a, b, c, table: constexpr):
    r = a & 0
    for i in static_range(8):
        if (table >> i) & 1:
            r = r | ((a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c))
    return r

@jit
def ptx_prmt(a, b, s):
    return byte_perm(a, b, s)

@jit
def ptx_popc(a):
    return popc(a)

@jit
def ptx_clz(a):
    return clz(a)

@jit
def ptx_brev(a):
    return brev(a)

@jit
def ptx_ex2(a):
    return exp2(a)

@jit
def ptx_lg2(a):
    return log2(a)

@jit
def ptx_sin(a):
    return sin(a)

@jit
def ptx_cos(a):
    return cos(a)

@jit
def ptx_tanh(a):
    return tanh(a)

@jit
def ptx_rcp(a):
    return 1.0 / a

@jit
def ptx_sqrt(a):
    return sqrt(a)

@jit
def ptx_rsqrt(a):
    return rsqrt(a)

@jit
def ptx_selp(a, b, p):
    return where(p, a, b)

@jit
def ptx_setp_eq(a, b):
    return a == b

@jit
def ptx_setp_ne(a, b):
    return a != b

@jit
def ptx_setp_lt(a, b):
    return a < b

@jit
def ptx_setp_le(a, b):
    return a <= b

@jit
def ptx_setp_gt(a, b):
    return a > b

@jit
def ptx_setp_ge(a, b):
    return a >= b

# ---- Conversions: of `a` to type t; of two values to a pair, the second in the low bits ------------------------------

@jit
def ptx_cvt(a, t: constexpr):
    return a.to(t)

@jit
def ptx_cvt_rz(a, t: constexpr):
    return a.to(t, fp_downcast_rounding="rtz")

@jit
def ptx_cvt_rzi(a, t: constexpr):
    return a.to(t)

@jit
def ptx_cvt_rni(a, t: constexpr):
    return rint(a).to(t)

@jit
def ptx_cvt_rmi(a, t: constexpr):
    return floor(a).to(t)

@jit
def ptx_cvt_rpi(a, t: constexpr):
    return ceil(a).to(t)

@jit
def ptx_cvt_bf16x2(a, b):
    return pack((b.to(bf16), a.to(bf16)), 16)

@jit
def ptx_cvt_f16x2(a, b):
    return pack((b.to(fp16), a.to(fp16)), 16)

@jit
def ptx_cvt_satfinite_e4m3x2(a, b):
    return pack((clamp(b, -448.0, 448.0, True).to(fp8e4nv), clamp(a, -448.0, 448.0, True).to(fp8e4nv)), 8)

@jit
def ptx_cvt_satfinite_e5m2x2(a, b):
    return pack((clamp(b, -57344.0, 57344.0, True).to(fp8e5), clamp(a, -57344.0, 57344.0, True).to(fp8e5)), 8)

# 0, 0.5, 1, 1.5, 2, 3, 4, 6 and a sign. Steps of one half below 2, of one below 4, of two above: halfway to the even
# number.
@jit
def e2m1_bits(x):
    a = abs(x)
    code = where(a < 2.0, rint(a * 2.0), where(a < 4.0, rint(a) + 2.0, rint(a * 0.5) + 4.0))
    sign = (as_bits(x) >> 28) & 8
    return where(a <= 5.0, code.to(u32), 7) | where(x == x, sign, 0)

@jit
def ptx_cvt_satfinite_e2m1x2(a, b):
    return (e2m1_bits(b) | (e2m1_bits(a) << 4)).to(u8)

# The power of two that is not below |x|, by its exponent; 255 is NaN.
@jit
def ue8m0_up(x, most: constexpr):
    v = as_bits(x) & 0x7fffffff
    e = v >> 23
    fraction = v & 0x7fffff
    is_between = (fraction > 0) & (e != 254) & ~((e == 0) & (fraction <= 0x400000))
    return where(v > 0x7f800000, 255, where(v == 0x7f800000, most, where(is_between, e + 1, e)))

@jit
def ptx_cvt_rp_ue8m0x2(a, b):
    return (ue8m0_up(b, 255) | (ue8m0_up(a, 255) << 8)).to(u16)

@jit
def ptx_cvt_rp_satfinite_ue8m0x2(a, b):
    return (ue8m0_up(b, 254) | (ue8m0_up(a, 254) << 8)).to(u16)
