# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# break turns the loop into a while that carries whether it goes on; continue only skips the rest of an iteration.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    s = 0.0
    # CHECK: for %i = {{.*}} carry (%s_{{.*}} : (fp32) {
    # CHECK: if {{.*}} : (fp32) {
    # CHECK-NEXT: yield %s_
    # CHECK-NEXT: } else {
    for i in range(n):
        v = load(x + i)
        if v < 0.0:
            continue
        s += v
    # CHECK: while carry ({{.*}}) : (i64, i1, fp32) {
    # CHECK: icmp slt
    # CHECK: and
    # CHECK: condition
    # CHECK: const true
    # CHECK: const false
    # CHECK: xor
    # CHECK: yield
    for i in range(n):
        v = load(x + i)
        if v > 3.0:
            break
        s += v
    store(x, s)
