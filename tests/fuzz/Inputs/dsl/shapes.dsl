# RUN: fsc %s -T T=bf16 -D N=32
# Tiles that change their shape; every dtype.
@kernel(grid=(1, 1, 1))
def shapes(x: *T, u: *u8, w: *i64, f8: *fp8e4nv, d: *fp64, N: constexpr = 16, T: dtype = fp32):
    i = arange(0, N)
    a = load(x + i[:, None] * N + i[None, :])
    b = trans(a).reshape(N // 2, 2 * N)
    c = permute(join(a, a * 2), (2, 0, 1))
    lo, hi = split(join(i, i + 1))
    r = ravel(b, can_reorder=True) + interleave(broadcast_to(i, (N,)), zeros((N,), i32)).sum()
    e = expand_dims(lo, 0).to(u32) >> 3 ^ (hi.to(u32) & 0xff)
    g = cat(i, i, can_reorder=True)
    store(x + arange(0, N * N), r.to(T))
    store(u + i, clamp(load(f8 + i).to(fp32), 0.0, 255.0).to(u8), mask=i != 3)
    store(w + g, umulhi(g, g).to(i64) * -7 % 5)
    store(d + i, fma(i.to(fp64), 0.5, sqrt(abs(lo).to(fp64))) + min(c.to(fp64)))
    r1, r2, r3, r4 = randint4x(7, i)
    store(f8 + e.to(i32), (r1 ^ r2 | r3 & ~r4).to(fp32).to(fp8e4nv))
