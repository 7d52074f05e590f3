# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s --implicit-check-not=error:
# Wrong products with scales: what was given, and what is wanted.
@kernel(grid=(1,))
def k(p: *u8, n: i32):
    r, c = arange(0, 16)[:, None], arange(0, 32)[None, :]
    a, b, s = load(p + r * 32 + c), load(p + r * 32 + c).T, load(p + r * 2 + arange(0, 2)[None, :])
    one = load(p + r)
    # CHECK: bad_scaled.dsl:[[#@LINE+1]]:9: error: static_assert failed: 'lhs_format' of 'dot_scaled' is "e3m2"; it is one of e2m1, e4m3, e5m2, bf16, fp16
    x = dot_scaled(a, s, "e3m2", b, s, "e2m1")
    # CHECK: error: static_assert failed: 'rhs_scale' of 'dot_scaled' has the shape (16, 1), not (16, 2): one for 32 elements along k, which is 64
    x = dot_scaled(a, s, "e2m1", b, one, "e2m1")
    # CHECK: error: static_assert failed: 'lhs_scale' of 'dot_scaled' has the shape (16, 2), not (16, 1): one for 32 elements along k, which is 32
    x = dot_scaled(a, s, "e4m3", b, one, "e4m3")
    # CHECK: error: static_assert failed: 'lhs_scale' of 'dot_scaled' is a tile of u8 (exponents) or of fp8e4nv, or None [E0806]
    x = dot_scaled(a, one.to(fp32), "e4m3", b, one, "e4m3")
    # CHECK: error: 'lhs_scale' of 'dot_scaled' must be a tile of numbers, or None, not i32
    x = dot_scaled(a, n, "e4m3", b, one, "e4m3")
    # CHECK: error: static_assert failed: 'lhs' of 'dot_scaled' in e2m1 is a tile of u8, two elements in each, not of fp16
    x = dot_scaled(a.to(fp16), s, "e2m1", b, s, "e2m1")
    # CHECK: error: static_assert failed: 'rhs' of 'dot_scaled' in e4m3 is a tile of fp8e4nv or u8, not of fp8e5
    x = dot_scaled(a, one, "e4m3", b.to(fp8e5, bitcast=True), one, "e4m3")
    # CHECK: error: static_assert failed: 'lhs_k_pack' of 'dot_scaled' is False in e4m3: only e2m1 is packed
    x = dot_scaled(a, one, "e4m3", b, one, "e4m3", lhs_k_pack=False)
    # CHECK: error: static_assert failed: 'dot_scaled' of the shapes (16, 32) and (16,); it takes two tiles of rank 2, or two of rank 3
    x = dot_scaled(a, s, "e2m1", one.reshape(16), one, "e4m3")
    # CHECK: error: 'dot' of tile<16x64xbf16> and tile<32x16xbf16>: rows of 64 elements, and columns of 32
    x = dot_scaled(a, s, "e2m1", b, one, "e4m3")
    # CHECK: error: static_assert failed: 'acc' of 'dot_scaled' is a tile of fp16, and out_dtype fp32; they are the same
    x = dot_scaled(a, s, "e2m1", b, s, "e2m1", zeros((16, 16), fp16))
    # CHECK: error: the accumulator of 'dot' is tile<16x32xfp32>, and the product of
    x = dot_scaled(a, s, "e2m1", b, s, "e2m1", zeros((16, 32)))
    # CHECK: error: the call of 'dot_scaled' lacks its argument 'rhs_format'
    x = dot_scaled(a, s, "e2m1", b, s)
