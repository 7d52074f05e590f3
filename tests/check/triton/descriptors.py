# RUN: fsc %s --signature "tensordesc<bf16[64, 32]>:16,tensordesc<torch.bfloat16[64,32]>:16, tensordesc<fp16[64,64]>:16" \
# RUN:   --arch=sm_80 -o - | FileCheck %s
# RUN: fsc %s -T a="tensordesc<bf16[64,32]>" -T b="tensordesc<bf16[64,32]>" -T c="tensordesc<fp16[64,64]>" \
# RUN:   --emit=report -o - | FileCheck %s --check-prefix=REPORT
# RUN: not fsc %s --signature "tensordesc<bf16[64,30]>,tensordesc<bf16[64,32]>,tensordesc<fp16[64,64]>" -o - 2>&1 | \
# RUN:   FileCheck %s --check-prefix=SIZE
# RUN: not fsc %s --signature "tensordesc<bf16[64,32>,i32" -o - 2>&1 | FileCheck %s --check-prefix=GARBLED
# RUN: not fsc %s --signature ",,,tensordesc<bf16[64]>" -o - 2>&1 | FileCheck %s --check-prefix=ANNOTATED
# Descriptors that the host makes: to a launch the pointer, its sizes and its strides but the last,
# with the contract that they are.
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, K: tl.int32):
    # CHECK: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16
    # CHECK: mma.sync
    # REPORT: param pointer a bf16
    # REPORT-NEXT: dim "$1" "$3"
    # REPORT-NEXT: dim "$2" "1"
    # REPORT-NEXT: param scalar a_shape_0 i32
    # REPORT-NEXT: param scalar a_shape_1 i32
    # REPORT-NEXT: param scalar a_stride_0 i64
    # REPORT-NEXT: param pointer b bf16
    # REPORT: param scalar c_stride_0 i64
    # REPORT-NEXT: param scalar K i32
    # SIZE: descriptors.py:[[#@LINE-12]]:13: error: the size 30 is not a power of two [E0311]
    # GARBLED: error: --signature: item 1, 'tensordesc<bf16[64,32>', names no type [E0511]
    # GARBLED: note: an item is a type (i32, fp16), a pointer (*fp32, *fp32:16), a descriptor (tensordesc<fp16[64,64]>)
    # ANNOTATED: descriptors.py:[[#@LINE-15]]:22: error: {{.*}}K{{.*}}a descriptor
    m, n = tl.program_id(0) * 64, tl.program_id(1) * 64
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 32):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.store([m, n], acc.to(c.dtype))
