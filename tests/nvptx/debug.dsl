# RUN: fsc %s --device-debug --arch=sm_90 -o - | FileCheck %s
# RUN: fsc %s --arch=sm_90 -o - | FileCheck %s --check-prefix=OFF
# RUN: fsc %s --device-debug --arch=sm_75 -o %t.ptx && %ptxas -arch=sm_75 %t.ptx -o %t.cubin
# RUN: fsc %s --device-debug --arch=sm_90 -o %t.ptx && %ptxas -arch=sm_90 %t.ptx -o %t.cubin
# RUN: fsc %s --device-debug --arch=sm_120 -o %t.ptx && %ptxas -arch=sm_120 %t.ptx -o %t.cubin
# REQUIRES: ptxas
# Prints go through the driver's vprintf, by the one thread that owns the element; a failing assertion prints which,
# and ends the launch.
# CHECK-DAG: .extern .func {{.*}} vprintf
# CHECK-DAG: .extern .func __assertfail
# CHECK: .entry k
# CHECK: bar.sync
# CHECK: {{@%p[0-9]+}} bra
# CHECK: vprintf,
# CHECK: {{@%p[0-9]+}} bra
# CHECK: vprintf,
# CHECK: __assertfail,
# OFF-NOT: vprintf
# OFF-NOT: __assertfail
# OFF-NOT: .local
@kernel(grid=(1,), num_warps=4)
def k(x: *fp32, y: *fp32):
    i = arange(0, 128)
    s = sum(load(x + i))
    device_print("s", s)
    device_assert(i < 100, "50% of it")
    store(y + i, s)
