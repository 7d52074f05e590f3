# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Shape builtins that only add dimensions of size 1 or repeat.
@kernel(grid=(1,))
def k(x: *fp32):
    i = arange(0, 16)
    # CHECK: expand_dims %i {axis = 1} : tile<16x1xi32>
    a = expand_dims(i, 1)
    # CHECK: expand_dims %i {axis = 0} : tile<1x16xi32>
    b = i.expand_dims(0)
    # CHECK: broadcast %{{.*}} : tile<8x16xi32>
    c = broadcast_to(b, (8, 16))
    # CHECK: expand_dims %i {axis = 1}
    whole = i.reshape(16) + reshape(i, (16,)) + full(16, 0, i32)
    d = i.reshape(16, 1)
    # CHECK: expand_dims %i {axis = 0}
    # CHECK: expand_dims %{{.*}} {axis = 2} : tile<1x16x1xi32>
    e = i[None, :, None]
    static_assert(a.shape[1] == 1 and c.shape[0] == 8 and d.shape == a.shape and e.shape[1] == 16)
    store(x + a, 1.0)
    store(x + c, 1.0)
    store(x + d, 1.0)
    store(x + e, 1.0)
    # A shape of one dimension may be a number.
    f = a.reshape(16) + full(16, 1, i32) + zeros(16, i32)
    static_assert(f.shape == (16,) and broadcast_to(1, 16).shape == (16,))
    store(x + f, 1.0)
    # Ones are added where they fit between the axes; any other shape is a reshape, ones behind it too.
    # CHECK: [[ROWS:%.*]] = expand_dims %i {axis = 0} : tile<1x16xi32>
    # CHECK: expand_dims [[ROWS]] {axis = 2} : tile<1x16x1xi32>
    # CHECK: reshape %i : tile<2x8x1xi32>
    # CHECK: reshape %i : tile<8x1x2xi32>
    # CHECK: trans %{{.*}} {perm = {{.*}}} : tile<2x1x8xi32>
    store(x + reshape(i, (1, 16, 1)), 1.0)
    store(x + reshape(i, (2, 8, 1)), 1.0)
    store(x + permute(view(i, 8, 1, 2), (2, 1, 0)), 1.0)
    # One axis, and none, have one order.
    # CHECK-NOT: trans
    # CHECK: return
    store(x + permute(i, (0,)), permute(permute(1.0, ()), ()))
