# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Casts between all classes of types; the rounding of a narrowing float cast can be chosen.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    i = arange(0, 16)
    v = load(x + i)
    # CHECK: fptosi %v : tile<16xi32>
    # CHECK: fptoui %v : tile<16xi8>
    a = v.to(i32) + cast(v, u8)
    # CHECK: fptrunc %v {round = zero} : tile<16xbf16>
    b = v.to(bf16, fp_downcast_rounding="rtz")
    # CHECK: fptrunc %v : tile<16xfp16>
    c = v.to(fp16)
    # CHECK: bitcast %v : tile<16xi32>
    d = v.to(i32, bitcast=True)
    # CHECK: icmp ne %n
    e = n.to(i1)
    # bf16 and fp16 have one width: the way between them is through fp32.
    # CHECK: [[W:%.*]] = fpext %b : tile<16xfp32>
    # CHECK: fptrunc [[W]] : tile<16xfp16>
    f = b.to(fp16)
    store(x + i, a + b + c + d + e + f)
