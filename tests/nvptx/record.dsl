# The variant's record is a global byte array beside the kernel.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# The bytes of "fsc-record 1".
# CHECK: .visible .global .align 1 .b8 fsc_record_k[{{[0-9]+}}] = {102, 115, 99, 45, 114, 101, 99, 111, 114, 100, 32, 49, 10,
# CHECK: .visible .entry k(
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, v)
