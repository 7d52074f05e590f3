# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s --implicit-check-not=error:
# Wrong products: what the operands are, and what to do.
@kernel(grid=(1,))
def k(p: *fp32, n: i32):
    r, c = arange(0, 16)[:, None], arange(0, 32)[None, :]
    a, row = load(p + r * 32 + c), load(p + arange(0, 16))
    b, h = a.T, a.T.to(fp16)
    # CHECK: bad_dot.dsl:[[#@LINE+1]]:9: error: 'dot' of tile<16xfp32> and tile<32x16xfp32>, which are not of one rank, 2 or more [E0329]
    x = dot(row, b)
    # CHECK: note: it takes tiles of rank 2, or of more, whose first axes count matrices;
    # CHECK: error: 'dot' of tile<1x16x32xfp32> and tile<32x16xfp32>, which are not of one rank
    x = dot(a[None, :, :], b)
    # CHECK: error: 'dot' of tile<16x32xfp32> and tile<16x32xfp32>: rows of 32 elements, and columns of 16 [E0329]
    x = dot(a, a)
    # CHECK: the second operand is [K, N]: transpose it, as in dot(x, y.T)
    # CHECK: error: 'dot' of tile<16x32xfp32> and tile<8x64xfp32>: rows of 32 elements, and columns of 8 [E0329]
    x = dot(a, zeros((8, 64)))
    # CHECK: the operands are [M, K] and [K, N]
    # CHECK: error: 'dot' of tile<2x16x32xfp32> and tile<4x32x16xfp32>: 2 matrices, and 4 [E0329]
    x = dot(zeros((2, 16, 32)), zeros((4, 32, 16)))
    # CHECK: note: axis 0 counts matrices, and each is multiplied by the one of its number
    # CHECK: error: 'dot' of tile<16x32xfp32> and tile<32x16xfp16>, whose element types do not multiply [E0330]
    x = dot(a, h)
    # CHECK: note: both must be of one type, but for fp8e4nv with fp8e5 and i8 with u8: convert one, as in x.to(fp16)
    # CHECK: error: 'dot' of tile<16x32xi32> and tile<32x16xi32>, whose element types do not multiply [E0330]
    x = dot(a.to(i32), b.to(i32))
    # CHECK: note: it multiplies fp8e4nv, fp8e5, fp16, bf16, fp32, fp64, i8 and u8: convert both, as in x.to(fp16)
    # CHECK: error: 'dot' of tile<16x32xi1> and tile<32x16xi1>, whose element types
    x = dot(a > 0, b > 0)
    # CHECK: error: the accumulator of 'dot' is tile<16x16xfp16>, and {{.*}} is tile<16x16xfp32> [E0331]
    x = dot(a, b, zeros((16, 16), fp16))
    # CHECK: note: convert it first, as in acc.to(fp32)
    # CHECK: error: the accumulator of 'dot' is tile<16x32xfp32>, and the product of
    x = dot(a, b, a)
    # CHECK: note: leave it out, or begin with zeros of that shape and type
    # CHECK: error: the accumulator of 'dot' is fp32, and the product of
    x = dot(a, b, load(p))
    # CHECK: error: input_precision of 'dot' is the string "fp32" [E0332]
    x = dot(a, b, input_precision="fp32")
    # CHECK: note: it is one of "tf32", "ieee", "tf32x3", "bf16x3", "bf16x6"
    # CHECK: error: 'dot' is given input_precision and allow_tf32 [E0332]
    x = dot(a, b, input_precision="ieee", allow_tf32=True)
    # CHECK: note: leave allow_tf32 out: True is input_precision="tf32", False is "ieee"
    # CHECK: error: out_dtype of 'dot' is fp16 [E0332]
    x = dot(a, b, out_dtype=fp16)
    # CHECK: note: of tile<16x32xfp32> and tile<32x16xfp32> it is fp32; convert the result, as in dot(x, y).to(fp16)
    # CHECK: error: out_dtype of 'dot' is bf16 [E0332]
    x = dot(h.T, h, out_dtype=bf16)
    # CHECK: note: of tile<16x32xfp16> and tile<32x16xfp16> it is fp32 or fp16; convert the result,
    # CHECK: error: out_dtype of 'dot' is fp16 [E0332]
    x = dot(a.to(bf16), b.to(bf16), out_dtype=fp16)
    # CHECK: note: of tile<16x32xbf16> and tile<32x16xbf16> it is fp32; convert the result, as in dot(x, y).to(fp16)
    # CHECK: error: out_dtype of 'dot' is fp32 [E0332]
    x = dot(a.to(i8), b.to(i8), out_dtype=fp32)
    # CHECK: note: of tile<16x32xi8> and tile<32x16xi8> it is i32; convert the result, as in dot(x, y).to(fp32)
    # CHECK: error: out_dtype of 'dot' is i32 [E0332]
    x = dot(h.T, h, out_dtype=i32)
    # CHECK: note: of tile<16x32xfp16> and tile<32x16xfp16> it is fp32 or fp16;
    # CHECK: error: 'dot' of tile<16x32xfp16> and tile<32x16xbf16>, whose element types do not multiply [E0330]
    x = dot(h.T, b.to(bf16))
    # CHECK: error: 'dot' of tile<16x32xfp8e5> and tile<32x16xfp16>, whose element types do not multiply [E0330]
    x = dot(a.to(fp8e5), h)
    # CHECK: error: 'input' of 'dot' must be a tile of numbers, not tile<16x1x*fp32>
    x = dot(p + r, b)
    # CHECK: note: load what it points to
    # CHECK: error: 'other' of 'dot' must be a tile of numbers, not the float 2.0
    x = dot(a, 2.0)
    # CHECK: error: the accumulator of 'dot' is tile<16x16xfp32>, and {{.*}} is tile<16x16xfp16> [E0331]
    x = dot(h.T, h, zeros((16, 16)), out_dtype=fp16)
    # CHECK: error: the accumulator of 'dot' is tile<16x16xi32>, and {{.*}} is tile<16x16xfp32> [E0331]
    x = dot(a, b, zeros((16, 16), i32))
    # CHECK: error: max_num_imprecise_acc of 'dot' is -32 [E0332]
    x = dot(a.to(fp8e5), b.to(fp8e5), max_num_imprecise_acc=-32)
    # CHECK: error: 'dot' is given input_precision and allow_tf32 [E0332]
    x = dot(a, b, input_precision="tf32", allow_tf32=False)
    # CHECK: error: input_precision of 'dot' is {{.*}} 3
    x = dot(a, b, input_precision=3)
    # CHECK: error: max_num_imprecise_acc of 'dot' is 5 [E0332]
    x = dot(a.to(fp8e5), b.to(fp8e5), max_num_imprecise_acc=5)
    # CHECK: note: it is a multiple of 32, or 0: so many products of fp8 may be added in less than fp32
    # CHECK: error: 'max_num_imprecise_acc' of 'dot' must be an int known at compile time, or None, not i32
    x = dot(a, b, max_num_imprecise_acc=n)
