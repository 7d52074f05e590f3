# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# exp and its kin: fp32 and fp64 as they are, narrower types through fp32 with one rounding.
@kernel(grid=(1,))
def k(x: *fp32, d: *fp64, h: *bf16):
    v = load(x)
    # CHECK: = exp %v : fp32
    # CHECK: = exp2 %v : fp32
    # CHECK: = log %v : fp32
    # CHECK: = log2 %v : fp32
    # CHECK: = sqrt %v : fp32
    # CHECK: = rsqrt %v : fp32
    # CHECK: = fabs %v : fp32
    store(x, exp(v) + exp2(v) + log(v) + log2(v) + sqrt(v) + rsqrt(v) + abs(v))
    # CHECK: = exp %{{.*}} : fp64
    store(d, exp(load(d)))
    # CHECK: %[[H:.*]] = load %h : bf16
    # CHECK: %[[W:.*]] = fpext %[[H]] : fp32
    # CHECK: %[[E:.*]] = exp %[[W]] : fp32
    # CHECK: fptrunc %[[E]] : bf16
    store(h, exp(load(h)))
    # On constants they are computed here.
    # CHECK: const 1.0 : fp32
    store(x, exp(0.0))
    # CHECK: const -inf : fp32
    store(x, log(0.0))
