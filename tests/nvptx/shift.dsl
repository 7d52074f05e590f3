# A shift by the width or more gives 0, which PTX's own shift does.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# RUN: fsc %s --emit=llvm --arch=sm_80 -o - | FileCheck %s --check-prefix=LLVM
# LLVM-DAG: select i1 {{.*}}, i32 0, i32
# LLVM-DAG: shl i32
# CHECK: shl.b32
# CHECK-NOT: selp
@kernel(grid=(1,))
def k(z: *u32, x: *u32, y: *u32):
    i = arange(0, 128)
    a = load(x + i)
    b = load(y + i)
    store(z + i, a << b)
