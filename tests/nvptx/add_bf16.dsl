# bf16 sums take two elements an instruction; before sm_80 they go through fp32, and the rounding is integer code.
# RUN: fsc %s --emit=ptx --arch=sm_75 -o - | FileCheck %s --check-prefix=OLD
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s --check-prefix=NEW
# OLD-NOT: bf16.f32
# OLD: add.rn.f32
# OLD-NOT: bf16.f32
# OLD: ret;
# NEW: fma.rn.bf16x2
# NEW-NOT: bf16.f32
@kernel(grid=(1,))
def k(z: *bf16, x: *bf16, y: *bf16):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, a + b)
