# The exact remainder is a function of its own.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: .visible .entry k(
# CHECK: call.uni {{.*}} fsc_fmod_fp32
# CHECK: .func {{.*}} fsc_fmod_fp32(
# CHECK: rem.u32
@kernel(grid=(1,))
def k(z: *fp32, x: *fp32, y: *fp32):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, a % b)
