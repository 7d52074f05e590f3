# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# a if c else b: both arms become one type, and only the chosen one runs.
@kernel(grid=(1,))
def k(x: *fp32, h: *fp16, n: i32):
    # CHECK: if %{{.*}} : (fp32) {
    # CHECK-NEXT: addptr
    # CHECK-NEXT: load
    # CHECK-NEXT: yield
    # CHECK-NEXT: } else {
    # CHECK-NEXT: const 0.0
    v = load(x + n) if n > 0 else 0.0
    # CHECK: if %{{.*}} : (i32) {
    i = 1 if n > 3 else 2
    # CHECK: if %{{.*}} : (fp16) {
    w = load(h) if n > 4 else 1
    store(x + i, v + w)
