# RUN: fsc --emit=tile --passes= --kernel=merge %s -o - | FileCheck %s --check-prefix=MERGE
# RUN: fsc --emit=tile --passes=dce --kernel=merge %s -o - | FileCheck %s --check-prefix=DROPPED
# RUN: fsc --emit=tile --passes= --kernel=loop %s -o - | FileCheck %s --check-prefix=LOOP
# RUN: fsc --emit=tile --passes=dce --kernel=loop %s -o - | FileCheck %s --check-prefix=VALUE
# RUN: fsc --emit=tile --passes=dce --kernel=until %s -o - | FileCheck %s --check-prefix=UNTIL
# RUN: fsc --emit=tile --passes=dce --kernel=returned %s -o - | FileCheck %s --check-prefix=RETURNED
# A branch or loop hands on a value and its wide form: the maximum of two sums is not the truncated maximum of the exact
# ones. dce drops the form that nothing reads, also around a loop.
@kernel(grid=(1,))
def merge(o: *i32, n: i32, c: i32):
    # MERGE: [[V:%.*]], [[W:%.*]] = if %{{.*}} : (i32, i64) {
    # MERGE: yield %{{.*}}, %{{.*}}
    # MERGE: addptr %o, [[W]]
    # MERGE: store %{{.*}}, [[V]]
    # DROPPED: = if %{{.*}} : (i32, i64) {
    y = maximum(n + n, 5) if c > 0 else 0
    store(o + y, y)
    # DROPPED: [[Z:%.*]] = if %{{.*}} : (i32) {
    # DROPPED-NOT: trunc
    # DROPPED: store %o, [[Z]]
    z = minimum(n + n, 5) if c > 0 else 0
    store(o, z)

@kernel(grid=(1,))
def loop(o: *i32, n: i32, c: i32):
    # LOOP: for {{.*}} : (i32, i64) {
    # LOOP: add %{{.*}} : i32
    # LOOP: add %{{.*}} : i64
    # LOOP: yield %{{.*}}, %{{.*}}
    # VALUE: [[S:%.*]] = for {{.*}} : (i32) {
    # VALUE-NOT: i64
    # VALUE: store %o, [[S]]
    s = 0
    for i in range(0, c):
        s += n
    store(o, s)

@kernel(grid=(1,))
def until(o: *i32, n: i32):
    # UNTIL: while carry ({{.*}}) : (i32, i64) {
    i = 0
    s = 1
    while i < n:
        s *= 3
        i += s % 2
    store(o, s)

@jit
def first(o, n, c):
    for i in range(0, c):
        if i == n:
            return maximum(n + n, 5)
    return 0

@kernel(grid=(1,))
def returned(o: *i32, n: i32, c: i32):
    # RETURNED: while carry ({{.*}}) : (i64, i1, i1, i32) {
    # RETURNED-NOT: trunc
    # RETURNED: store %o,
    store(o, first(o, n, c))
