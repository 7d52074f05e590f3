# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Constants of the file, in any order; they adapt like literals.
SCALE: constexpr = LOG2E * 2.0
LOG2E = tl.constexpr(1.5)
SIZES = (16, 32)

@kernel(grid=(1,))
def k(h: *fp16):
    i = arange(0, SIZES[1])
    # CHECK: arange 0, 32
    # CHECK: const 3.0 : fp16
    # CHECK: fmul %{{.*}} : tile<32xfp16>
    store(h + i, load(h + i) * SCALE)
