# RUN: %python -c "import numpy; numpy.save('%t.npy', numpy.arange(4, dtype=numpy.int32))"
# RUN: fsc run %s --device=cpu --device-debug x=%t.npy most=9 | FileCheck %s
# RUN: fsc run %s --device=emu --device-debug x=%t.npy most=9 | FileCheck %s
# RUN: fsc run %s --device=cpu x=%t.npy most=2 | FileCheck %s --check-prefix=OFF
# RUN: exits 1 fsc run %s --device=cpu --device-debug x=%t.npy most=2 2>&1 | FileCheck %s --check-prefix=FAILS
# RUN: exits 1 fsc run %s --device=emu --device-debug x=%t.npy most=2 2>&1 | FileCheck %s --check-prefix=FAILS
# With --device-debug a kernel is launched once, prints, and ends where an assertion fails: exit code 1.
# CHECK: pid (0, 0, 0) idx (0) x: 0
# CHECK-NEXT: pid (0, 0, 0) idx (1) x: 1
# CHECK-NEXT: pid (0, 0, 0) idx (2) x: 2
# CHECK-NEXT: pid (0, 0, 0) idx (3) x: 3
# CHECK-NOT: pid
# OFF-NOT: pid
# FAILS: device_debug.dsl:[[#@LINE+6]]:19: assertion: program (0, 0, 0){{.*}}: element (2): at most
# FAILS: device_assert(
# FAILS: fsc run: an assertion of the kernel does not hold
@kernel(grid=(1,))
def k(x: *i32[n], n: i32, most: i32):
    v = load(x + arange(0, 4), mask=arange(0, 4) < n)
    device_assert(v < most, "at most")
    device_print("x", v)
    store(x + arange(0, 4), v, mask=arange(0, 4) < n)
