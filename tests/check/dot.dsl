# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# dot as function and method: the accumulator's type, the precision of fp32, unsigned operands,
# an fp16 result that is rounded once.
@kernel(grid=(1,))
def k(p: *fp32, h: *fp16, i: *i8, u: *u8, e: *fp8e4nv, f: *fp8e5, d: *fp64):
    r, c = arange(0, 16)[:, None], arange(0, 32)[None, :]
    at, back = r * 32 + c, arange(0, 32)[:, None] * 16 + arange(0, 16)[None, :]
    a, b = load(p + at), load(p + back)
    # CHECK: %[[ZERO:.*]] = const 0.0 : tile<16x16xfp32>
    # CHECK: %{{.*}} = dot %a, %b, %[[ZERO]] {precision = tf32} : tile<16x16xfp32>
    s = dot(a, b)
    # CHECK: dot %a, %b, %{{.*}} : tile<16x16xfp32>
    s = a.dot(b, s, input_precision="ieee")
    # CHECK: dot %a, %b, %{{.*}} : tile<16x16xfp32>
    s = tl.dot(a, b, acc=s, allow_tf32=False, input_precision=None, max_num_imprecise_acc=None, out_dtype=None)
    # CHECK: dot %a, %b, %{{.*}} {precision = tf32} : tile<16x16xfp32>
    s = dot(a, b, s, allow_tf32=True, out_dtype=fp32)
    # CHECK: dot %a, %b, %{{.*}} {precision = bf16x6} : tile<16x16xfp32>
    s = dot(a, b, s, "bf16x6")
    # CHECK: dot %a, %b, %{{.*}} {precision = tf32x3} : tile<16x16xfp32>
    s = dot(a, b, s, "TF32x3")
    # CHECK: dot %a, %b, %{{.*}} : tile<16x16xfp32>
    s = dot(a, b, s, "IEEE")
    # CHECK: trans %a
    # CHECK: dot %{{.*}}, %a, %{{.*}} {precision = tf32x3} : tile<32x32xfp32>
    t = dot(a.T, a, input_precision="tf32x3")
    # CHECK: %[[WIDE:.*]] = fpext %{{.*}} : tile<16x16xfp32>
    # CHECK: %[[SUM:.*]] = dot %{{.*}}, %{{.*}}, %[[WIDE]] : tile<16x16xfp32>
    # CHECK: fptrunc %[[SUM]] : tile<16x16xfp16>
    g = dot(load(h + at), load(h + back), s.to(fp16), out_dtype=fp16)
    # CHECK: dot %{{.*}} {unsigned_b} : tile<16x16xi32>
    n = dot(load(i + at), load(u + back))
    # CHECK: dot %{{.*}} {unsigned_a, unsigned_b} : tile<16x16xi32>
    n = dot(load(u + at), load(u + back), n)
    # CHECK: dot %{{.*}} : tile<16x16xfp32>
    v = dot(load(e + at), load(f + back), max_num_imprecise_acc=64)
    # CHECK: dot %{{.*}} {imprecise = 32} : tile<64x64xfp32>
    w = dot(zeros((64, 64), fp8e5), zeros((64, 64), fp8e4nv), max_num_imprecise_acc=32)
    # CHECK: dot %{{.*}} : tile<16x16xfp64>
    x = dot(load(d + at), load(d + back))
    # CHECK: dot %{{.*}} : tile<4x16x16xfp32>
    y = dot(zeros((4, 16, 8), bf16), zeros((4, 8, 16), bf16))
    at = p + r * 16 + arange(0, 16)[None, :]
    store(at, s + g.to(fp32) + n.to(fp32) + v + x.to(fp32) + y.sum(0) + t.sum() + w.sum())
