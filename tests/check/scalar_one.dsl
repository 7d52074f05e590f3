# RUN: fsc --emit=tile --passes= --kernel=k --signature "*i32, *u8, i32:1" %s -o - | FileCheck %s
# RUN: fsc --emit=tile --kernel=branch --signature "*i32, i32:1" %s -o - | FileCheck %s --check-prefix=BRANCH
# RUN: fsc --emit=ptx --kernel=copy --signature "*fp32:16, *fp32:16, i32:1" %s -o - | FileCheck %s --check-prefix=COPY
# RUN: fsc --emit=tile --passes= --kernel=count --signature "*i32, i32, i32:1" %s -o - \
# RUN:   | FileCheck %s --check-prefix=COUNT
# A scalar that is specialised for 1 is a value of its own type: what the source means does not hang on it,
# and the passes know the constant.
@kernel(grid=(1,))
def k(o: *i32, b: *u8, n: i32):
    # CHECK: [[N:%.*]] = const 1 : i32
    # CHECK: [[D:%.*]] = sub [[N]], %{{.*}} : i32
    # CHECK: sdiv [[D]], %{{.*}} : i32
    store(o, (n - 8) // 2)
    # CHECK: xor [[N]], %{{.*}} : i32
    # CHECK: trunc %{{.*}} : i8
    store(b, cast(~n, u8))
    # CHECK: add [[N]], %{{.*}} : i32
    store(o + 1, n + 2147483647)

@kernel(grid=(1,))
def branch(o: *i32, n: i32):
    # BRANCH-NOT: if
    # BRANCH: const 7 : i32
    # BRANCH-NEXT: store
    # BRANCH-NEXT: return
    if n == 1:
        store(o, 7)
    else:
        store(o, 8)

@kernel(grid=(1,))
def copy(x: *fp32, y: *fp32, stride: i32):
    # COPY: ld.global.v4
    # COPY: st.global.v4
    i = arange(0, 1024) * stride
    store(y + i, load(x + i))

@kernel(grid=(1,))
def count(o: *i32, n: i32, step: i32):
    # COUNT: for %{{.*}} = %{{.*}} to %n step %{{.*}} {
    for i in range(0, n, step):
        store(o + i, i)
