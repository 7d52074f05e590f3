# scaled.dsl - products of matrices of floats of 4, 8 and 16 bits whose elements share scales along k: the microscaling
# formats of the OCP, and NVIDIA's with scales in fp8. Elements are scaled in fp32 and rounded to bf16, which is exact
# but at the ends of its range. Where an operand is fp16 both stay fp32, to be multiplied as tf32, which holds either.

# A shape of the same rank, with another last size, and with others at its last two axes.
@jit
def with_last(sizes: constexpr, n: constexpr):
    return (sizes[0], n) if len(sizes) == 2 else (sizes[0], sizes[1], n)

@jit
def turned(x):
    return x.trans(1, 0) if len(x.shape) == 2 else x.trans(0, 2, 1)

# Bit patterns of e2m1 as fp32: exponent and mantissa lie where fp32 has the ends of its own; the rest is 2^126.
@jit
def e2m1(bits):
    return (((bits & 7) << 22) | ((bits & 8) << 28)).to(fp32, bitcast=True) * 8.507059173023462e37

# Two elements of e2m1 a byte, the first in the low bits: along the last axis, or along the one before it.
@jit
def unpacked(x, is_last: constexpr):
    bits = x.to(u32)
    both = join(e2m1(bits), e2m1(bits >> 4))
    if is_last:
        return both.reshape(with_last(x.shape, x.shape[len(x.shape) - 1] * 2))
    elif len(x.shape) == 2:
        return both.trans(0, 2, 1).reshape(x.shape[0] * 2, x.shape[1])
    else:
        return both.trans(0, 1, 3, 2).reshape(x.shape[0], x.shape[1] * 2, x.shape[2])

@jit
def of_type(x, name: constexpr, format: constexpr, t: constexpr, bits: constexpr):
    static_assert(x.dtype == t or x.dtype == bits,
                  f"'{name}' of 'dot_scaled' in {format} is a tile of {t} or {bits}, not of {x.dtype}")
    return x if x.dtype == t else x.to(t, bitcast=True)

# An operand [.., rows, k] as numbers.
@jit
def decoded(x, name: constexpr, format: constexpr, k_pack: constexpr):
    static_assert(k_pack or format == "e2m1",
                  f"'{name}_k_pack' of 'dot_scaled' is False in {format}: only e2m1 is packed")
    if format == "e2m1":
        static_assert(x.dtype == u8, f"'{name}' of 'dot_scaled' in e2m1 is a tile of u8, two elements in each, not of "
                      f"{x.dtype}")
        return unpacked(x, k_pack)
    elif format == "e4m3":
        return of_type(x, name, format, fp8e4nv, u8)
    elif format == "e5m2":
        return of_type(x, name, format, fp8e5, u8)
    elif format == "fp16":
        return of_type(x, name, format, fp16, u16)
    else:
        static_assert(format == "bf16", f"'{name}_format' of 'dot_scaled' is \"{format}\"; it is one of e2m1, e4m3, "
                      "e5m2, bf16, fp16")
        return of_type(x, name, format, bf16, u16)

# 2^(e - 127), and NaN of 255; of fp8e4nv the number that it is.
@jit
def factors(scale):
    if scale.dtype == fp8e4nv:
        return scale.to(fp32)
    else:
        e = scale.to(u32)
        return where(e == 0, 0x00400000, where(e == 255, 0x7fc00000, e << 23)).to(u32).to(fp32, bitcast=True)

# Each row of x [.., rows, k] times its scales [.., rows, k / size].
@jit
def scaled(x, scale, name: constexpr):
    static_assert(isinstance(scale, tensor) and (scale.dtype == u8 or scale.dtype == fp8e4nv),
                  f"'{name}_scale' of 'dot_scaled' is a tile of u8 (exponents) or of fp8e4nv, or None")
    size: constexpr = 16 if scale.dtype == fp8e4nv else 32
    k: constexpr = x.shape[len(x.shape) - 1]
    wanted: constexpr = with_last(x.shape, k // size)
    static_assert(scale.shape == wanted, f"'{name}_scale' of 'dot_scaled' has the shape {scale.shape}, not {wanted}: "
                  f"one for {size} elements along k, which is {k}")
    spread = expand_dims(factors(scale), len(x.shape)).broadcast_to(*wanted, size)
    return x.to(fp32) * spread.reshape(x.shape)

@jit
def operand(x, scale, name: constexpr, format: constexpr, k_pack: constexpr, t: constexpr):
    numbers = decoded(x, name, format, k_pack)
    return numbers.to(t) if scale is None else scaled(numbers, scale, name).to(t)

@jit
def dot_scaled(lhs, lhs_scale, lhs_format: constexpr, rhs, rhs_scale, rhs_format: constexpr, acc=None,
               fast_math: constexpr = False, lhs_k_pack: constexpr = True, rhs_k_pack: constexpr = True,
               out_dtype: constexpr = fp32):
    rank: constexpr = len(lhs.shape)
    static_assert(rank == len(rhs.shape) and (rank == 2 or rank == 3),
                  f"'dot_scaled' of the shapes {lhs.shape} and {rhs.shape}; it takes two tiles of rank 2, or two of "
                  "rank 3 whose first axis counts matrices")
    static_assert(acc is None or acc.dtype == out_dtype,
                  f"'acc' of 'dot_scaled' is a tile of {acc.dtype}, and out_dtype {out_dtype}; they are the same")
    t: constexpr = fp32 if lhs_format == "fp16" or rhs_format == "fp16" else bf16
    x = operand(lhs, lhs_scale, "lhs", lhs_format, lhs_k_pack, t)
    y = turned(operand(turned(rhs), rhs_scale, "rhs", rhs_format, rhs_k_pack, t))
    sum = dot(x, y) if acc is None else dot(x, y, acc.to(fp32))
    return sum.to(out_dtype)
