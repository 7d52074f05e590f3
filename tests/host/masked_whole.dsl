# A vector that the mask lets through whole is a plain access: its last element's mask says so, or, of a mask that is
# not true and then false, all of its elements.
# RUN: fsc %s --kernel=prefix --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# RUN: fsc %s --kernel=prefix --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=STORE
# RUN: fsc %s --kernel=any --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s --check-prefix=ALL
# CHECK-NOT: llvm.vector.reduce.and
# CHECK: br i1 {{.*}}, label %[[WHOLE:[0-9a-z]+]], label %[[CUT:[0-9a-z]+]],
# CHECK: {{^}}[[WHOLE]]:
# CHECK: load <16 x i32>
# CHECK: {{^}}[[CUT]]:
# CHECK: @llvm.masked.load
# STORE: call void @llvm.masked.store
# ALL: [[YES:%[0-9]+]] = icmp eq i16 %{{[0-9]+}}, {{0|-1}}
# ALL: br i1 [[YES]], label %{{[0-9a-z]+}}, label %[[SOME:[0-9a-z]+]],
# ALL: {{^}}[[SOME]]:
# ALL: @llvm.masked.load
@kernel(grid=(1,))
def prefix(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 256)
    store(y + i, load(x + i, mask=i < n) + 1.0, mask=i < n)

@kernel(grid=(1,))
def any(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 256)
    store(y + i, load(x + i, mask=i % n != 1) + 1.0, mask=i % n != 1)
