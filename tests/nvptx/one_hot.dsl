# A gradient of cross-entropy. A choice that holds for the whole row is made of words of two elements, converted by
# pairs. Vectors that may lie beyond the row's end are made behind a branch.
# RUN: fsc %s --signature "*bf16:16, i32, i32, i32" -D "n>=8193" -D "n<=12000" --arch=sm_90 -o - \
# RUN:   | FileCheck %s --check-prefixes=ALL,ENDS --implicit-check-not=cvt.rn.bf16.f32
# RUN: fsc %s --signature "*bf16:16, i32, i32, i32" -D "n>=8193" -D "n<=12000" --arch=sm_90 --passes=-sink -o - \
# RUN:   | FileCheck %s --check-prefixes=ALL,ANYWAY --implicit-check-not=cvt.rn.bf16.f32
# ALL: cvt.rn.bf16x2.f32 [[W:%r[0-9]+]],
# ALL: selp.b32 %r{{[0-9]+}}, 0, [[W]], [[SKIPS:%p[0-9]+]];
# ALL: cvt.rn.bf16x2.f32 [[V:%r[0-9]+]],
# ALL: selp.b32 %r{{[0-9]+}}, 0, [[V]], [[SKIPS]];
# ENDS-COUNT-5: bra $L
# ANYWAY-COUNT-1: bra $L
# ANYWAY-NOT: bra $L
@kernel(num_warps=4)
def one_hot(x: *bf16, t: i32, skipped: i32, n: i32, BLOCK: constexpr = 16384):
    row = x + program_id(0) * 16384
    i = arange(0, BLOCK)
    v = load(row + i, mask=i < n, other=-inf).to(fp32)
    m = max(v, axis=0)
    d = exp(v - m) - where(i == t, 1.0, 0.0)
    store(row + i, where(t == skipped, 0.0, d), mask=i < n)
