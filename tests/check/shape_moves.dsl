# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Reshapes, permutations, join and split, in each form; what is made of them.
@kernel(grid=(1,))
def k(x: *fp32, y: *i32):
    i = arange(0, 64)
    # CHECK: reshape %i : tile<8x8xi32>
    a = reshape(i, (8, 8))
    # CHECK: reshape %a : tile<4x2x8xi32>
    b = a.view(4, 2, 8)
    # CHECK: trans %b {perm = [2, 0, 1]} : tile<8x4x2xi32>
    c = permute(b, 2, 0, 1)
    # CHECK: trans %b {perm = [1, 0, 2]} : tile<2x4x8xi32>
    d = b.trans((1, 0, -1))
    # CHECK: trans %b {perm = [0, 2, 1]} : tile<4x8x2xi32>
    e = tl.trans(b)
    # CHECK: trans %a {perm = [1, 0]} : tile<8x8xi32>
    f = a.T
    # CHECK: reshape %c : tile<64xi32>
    g = ravel(c)
    # CHECK: split %c {half = 0} : tile<8x4xi32>
    # CHECK: split %c {half = 1} : tile<8x4xi32>
    h, l = split(c)
    # CHECK: [[J:%.*]] = join %h, %l : tile<8x4x2xi32>
    m = join(h, l)
    # CHECK: [[J2:%.*]] = join %h, %l : tile<8x4x2xi32>
    # CHECK: reshape [[J2]] : tile<8x8xi32>
    n = interleave(h, l)
    # CHECK: [[J3:%.*]] = join %h, %l : tile<8x4x2xi32>
    # CHECK: [[T:%.*]] = trans [[J3]] {perm = [2, 0, 1]} : tile<2x8x4xi32>
    # CHECK: reshape [[T]] : tile<16x4xi32>
    o = cat(h, l, can_reorder=True)
    # CHECK: trans {{.*}} {perm = [0, 2, 1]} : tile<8x2x4xi32>
    p = cat(h, l, dim=1)
    # CHECK: reshape {{.*}} : tile<2xi32>
    q = join(1, 2)
    # CHECK: reshape %q : tile<1x2xi32>
    # CHECK: reshape {{.*}} : i32
    r, s = q.split()
    t = a[None].squeeze(0).unsqueeze(2)
    # CHECK: gather %i, {{%.*}} {axis = 0} : tile<64xi32>
    store(y + i, gather(i, i.to(i64) % 7, axis=0))
    # CHECK: flip %a {mask = 7} : tile<8x8xi32>
    store(y + a, flip(a))
    static_assert(t.shape[2] == 1 and len(t.shape) == 3 and o.shape[0] == 16 and p.shape[1] == 8)
    store(y + i, g + r + s)
    store(y + c, c + m)
    store(y + d, d)
    store(y + e, e)
    store(y + f, f + n)
    store(y + o, o)
    store(y + p, p)
    store(y + t, t)
