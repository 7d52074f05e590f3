# RUN: fsc --emit=tile %s -o - | FileCheck %s
# A block is addresses and a mask: what the loop advances is its offset alone, what is not checked has no mask, and a
# descriptor checks all.
@kernel(grid=(1,))
def k(r: *fp16, x: *const fp16, n: i32):
    # CHECK: for {{.*}} carry (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (tile<16x32xfp16>, i64) {
    # CHECK: icmp ult {{.*}} : tile<1x32xi1>
    # CHECK: load %{{.*}}, %{{.*}} : tile<16x32xfp16>
    # CHECK: yield
    p = make_block_ptr(x, (16, n), (n, 1), (0, 0), (16, 32), (1, 0))
    static_assert(p.type.element_ty == fp16 and p.type.is_ptr())
    s = zeros((16, 32), fp16)
    for i in range(n):
        s += load(p, boundary_check=(1,))
        p = advance(p, (0, 32))
    # CHECK: load %{{[^,]*}} : tile<16x32xfp16>
    s += load(p)
    # CHECK: %[[NAN:.*]] = const nan : tile<16x32xfp16>
    # CHECK: load %{{.*}}, %{{.*}}, %[[NAN]] : tile<16x32xfp16>
    d = make_tensor_descriptor(x, (16, n), (n, 1), (16, 32), padding_option="nan")
    static_assert(d.block_shape == (16, 32) and len(d.shape) == 2 and d.dtype == fp16)
    s += d.load((0, n + d.strides[1].to(i32)))
    # CHECK: store %{{.*}}, %{{.*}}, %{{.*}}
    make_tensor_descriptor(r, (16, n), (n, 1), (16, 32)).store((0, 0), s)
