# What a round's first product takes is read in the round before: all threads meet in front of that round's last product,
# when its stage has been read, and the first parts of the next stage are read behind it, and carried. So products go on
# across the barrier. Copies stand in front of one product each. The first round's are read before the loop, and are zeros where no round runs.
# RUN: fsc %s --arch=sm_80 --signature="*fp32:16,*fp16:16,*fp16:16,i32" --num-stages=3 --verify-each \
# RUN:   --print-after=pipeline -o /dev/null 2>&1 | FileCheck %s
# CHECK: IR Dump After pipeline
# CHECK: [[RUNS:%[0-9]+]] = splat {{.*}} : tile<32x32xi1
# CHECK: [[TRUE:%[0-9]+]] = const true : i1
# CHECK: copy_async {{%[0-9]+}}, {{%[0-9]+}}, [[TRUE]], [[RUNS]] {buffer = b0, begin, {{.*}}mask = uniform}
# CHECK: copy_commit
# CHECK: copy_commit
# CHECK: copy_wait {pending = 1}
# CHECK-NEXT: barrier block
# CHECK: [[A:%[0-9]+]] = shared_slice {{%[0-9]+}}, [[FIRST:%[0-9]+]] {buffer = b0, axis = 1, matrices}
# CHECK: [[B:%[0-9]+]] = shared_slice {{%[0-9]+}}, [[FIRST]] {buffer = b1, axis = 0, matrices}
# CHECK: for {{.*}}, [[STAGE:%[0-9]+]] = [[FIRST]], [[X:%[0-9]+]] = [[A]], [[Y:%[0-9]+]] = [[B]])
# CHECK-NOT: {{copy_wait|barrier}}
# CHECK: [[BEFORE:%[0-9]+]] = select
# CHECK: [[A1:%[0-9]+]] = shared_slice {{%[0-9]+}}, [[STAGE]] {buffer = b0
# CHECK: [[B1:%[0-9]+]] = shared_slice {{%[0-9]+}}, [[STAGE]] {buffer = b1
# CHECK: copy_async {{%[0-9]+}}, [[BEFORE]], {{.*}} {buffer = b0, prefetch
# CHECK-NEXT: mma [[X]], [[Y]]
# CHECK: copy_async {{%[0-9]+}}, [[BEFORE]], {{.*}} {buffer = b1, prefetch
# CHECK-NEXT: copy_commit
# CHECK-NEXT: copy_wait {pending = 1}
# CHECK-NEXT: barrier block
# CHECK: [[NEXT:%[0-9]+]] = select {{%[0-9]+}}, {{%[0-9]+}}, [[STAGE]]
# CHECK: [[X1:%[0-9]+]] = shared_slice {{%[0-9]+}}, [[NEXT]] {buffer = b0
# CHECK: [[Y1:%[0-9]+]] = shared_slice {{%[0-9]+}}, [[NEXT]] {buffer = b1
# CHECK-NEXT: mma [[A1]], [[B1]]
# CHECK: yield {{.*}}, [[NEXT]], [[X1]], [[Y1]]
#
# What is read behind the last product needs the round's stage: there the barrier stands in front of the first reader.
# RUN: fsc %s --arch=sm_80 --signature="*fp32:16,*fp16:16,*fp16:16,i32" --num-stages=3 --verify-each \
# RUN:   --print-after=pipeline -D TWICE=True -o /dev/null 2>&1 \
# RUN:   | FileCheck %s --check-prefix=LATE
# LATE: IR Dump After pipeline
# LATE: for {{.*}} {
# LATE: copy_wait {pending = 1}
# LATE-NEXT: barrier block
# LATE: copy_async {{.*}} {buffer = b0, prefetch
# LATE: mma
@kernel(grid=(1,))
def f(r: *fp32, x: *const fp16, y: *const fp16, n: i32, TWICE: constexpr = False):
    i, j = arange(0, 32)[:, None], arange(0, 32)[None, :]
    acc = zeros((32, 32), fp32)
    for k in range(n):
        a, b = load(x + (k * 32 + i) * 32 + j), load(y + (k * 32 + i) * 32 + j)
        acc = dot(a, b, acc)
        if TWICE:
            if k > 1:
                acc = dot(a, b.T, acc)
    store(r + i * 32 + j, acc)
