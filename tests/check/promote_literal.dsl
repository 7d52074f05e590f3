# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A literal takes the type of the tile that it meets, where its kind is no higher.
@kernel(grid=(1,))
def k(h: *fp16, b: *i8, x: *fp32):
    i = arange(0, 16)
    # CHECK: %a = fadd %{{.*}} : tile<16xfp16>
    a = load(h + i) + 1
    # CHECK: %b8 = add %{{.*}} : tile<16xi8>
    b8 = load(b + i) + 100
    # An int tile and a float literal meet in fp32.
    # CHECK: sitofp %{{.*}} : tile<16xfp32>
    # CHECK: %c = fmul %{{.*}} : tile<16xfp32>
    c = load(b + i) * 0.5
    store(h + i, a)
    store(b + i, b8)
    store(x + i, c)
