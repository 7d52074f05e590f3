# Bulk copies where loads say less than usual: rows from a number on that memory says, and heads side by side in a row.
# RUN: fsc %s --arch=sm_90a --emit=simt -o - --verify-each | FileCheck %s
# RUN: fsc %s --arch=sm_90a --emit=simt -o - -D MASKED=True | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --arch=sm_90a --emit=simt -o - -D AXIS=0 | FileCheck --check-prefix=NONE %s
# RUN: fsc %examples/attention_varlen.dsl --arch=sm_90a --emit=simt -o - -D ROOMY=True -D WHOLE=True -D DIM=128 \
# RUN:   -D KEYS=64 -D QUERIES=64 --signature '*bf16:16,*fp32:16,*bf16:16,*bf16:16,*bf16:16,*i32,*i32,i32,i32,i32,i32,i32,i32,fp32' \
# RUN:   | FileCheck --check-prefix=VARLEN %s

# VARLEN-COUNT-4: bulk_load
# No mask leaves out rows whose number is beyond 31 bits. So there are none, as rows are 128 bytes apart and more.
# A head is no more than a program's number, and that is below 65536 along y. So it lies in the row.
# CHECK: #m0 = #map<p1 span 128: 64 of 2147483647, 64 of 2147483647 by 64 x p5>
# CHECK: bulk_load {{.*}} {buffer = b1, map = m0, begin}
# A mask may leave out numbers beyond 31 bits. Along x there are more programs.
# NONE-NOT: bulk_load
@kernel(grid=(4, n_heads), num_warps=4, num_stages=2)
def packed(o: *fp16, k: *const fp16, first: *const i32, n: i32, n_heads: i32, n_kv_heads: i32,
           MASKED: constexpr = False, AXIS: constexpr = 1):
    k = multiple_of(k, 16)
    head = program_id(AXIS) // 2
    begin = load(first + program_id(0)).to(i64)
    r, d = arange(0, 64), arange(0, 64)
    q = full((64, 64), 1.0, fp16)
    sums = zeros((64, 64), fp32)
    for start in range(0, n, 64):
        row = maximum(begin + min(start, n - 64), 0) + r
        at = (row * n_kv_heads + head)[:, None] * 64 + d[None, :]
        b = load(k + at, mask=(row < 2147483647)[:, None]) if MASKED else load(k + at)
        sums = dot(q, b.T, sums)
    store(o + r[:, None] * 64 + d[None, :], sums)
