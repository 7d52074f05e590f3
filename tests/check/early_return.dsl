# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# return in a dynamic branch: the rest becomes the other arm.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    pid = program_id(0)
    # CHECK: %[[C:.*]] = icmp sge %pid, %n
    # CHECK-NEXT: if %[[C]] {
    # CHECK-NEXT: yield
    # CHECK-NEXT: } else {
    if pid >= n:
        return
    # CHECK: if %{{.*}} {
    # CHECK: store
    # CHECK: } else {
    # CHECK: store
    if pid > 3:
        store(x + pid, 1.0)
        return
    elif pid > 1:
        store(x + pid, 2.0)
    store(x + pid, 3.0)
    # CHECK: return
    # CHECK-NOT: return
