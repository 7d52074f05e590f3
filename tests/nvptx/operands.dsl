# Operands of 16 bits come by ldmatrix, transposed where columns lie side by side in memory; bytes along k alone. Threads
# store what they loaded in vectors of 16 bytes.
# RUN: fsc %s --kernel=f -T T=bf16 -T R=fp32 --signature "*fp32:16, *bf16:16, *bf16:16" --arch=sm_80 -o - | FileCheck %s
# RUN: fsc %s --kernel=f -T T=fp16 -T R=fp32 --signature "*fp32:16, *fp16:16, *fp16:16" --arch=sm_75 -o - | FileCheck %s --check-prefix=SM_75
# RUN: fsc %s --kernel=f -T T=i8 -T R=i32 --signature "*i32:16, *i8:16, *i8:16" --arch=sm_80 -o - | FileCheck %s --check-prefix=BYTES
# RUN: fsc %s --kernel=turned -T T=fp16 -T R=fp16 --signature "*fp16:16, *fp16:16, *fp16:16" --arch=sm_90 -o - | FileCheck %s --check-prefix=TURNED
# CHECK-COUNT-8: st.shared.v4.b32
# CHECK: bar.sync
# CHECK-COUNT-2: ldmatrix.sync.aligned.m8n8.x4.shared.b16
# CHECK-COUNT-2: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
# CHECK-COUNT-4: ldmatrix
# CHECK-COUNT-8: mma.sync
# CHECK-COUNT-4: ldmatrix
# CHECK-COUNT-8: mma.sync
# CHECK-COUNT-4: ldmatrix
# CHECK-NOT: ldmatrix
# CHECK-COUNT-16: mma.sync
# SM_75-COUNT-8: st.shared.v4.b32
# SM_75: bar.sync
# SM_75-NOT: ld.shared
# SM_75: ldmatrix.sync.aligned.m8n8.x4.shared.b16
# SM_75: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
# SM_75-COUNT-14: ldmatrix
# SM_75-NOT: ldmatrix
# BYTES: ldmatrix.sync.aligned.m8n8.x4.shared.b16
# BYTES-COUNT-8: ld.shared.b32
# BYTES-NOT: trans
# TURNED-COUNT-8: st.shared.v4.b32
# TURNED: bar.sync
# TURNED-COUNT-2: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
# TURNED-COUNT-2: ldmatrix.sync.aligned.m8n8.x4.shared.b16
# TURNED-COUNT-12: ldmatrix
@kernel(grid=(1,))
def f(r: *R, x: *const T, y: *const T, T: dtype = fp16, R: dtype = fp32):
    i, k = arange(0, 64)[:, None], arange(0, 64)[None, :]
    store(r + i * 64 + k, dot(load(x + i * 64 + k), load(y + i * 64 + k)))


@kernel(grid=(1,))
def turned(r: *R, x: *const T, y: *const T, T: dtype = fp16, R: dtype = fp32):
    i, k = arange(0, 64)[:, None], arange(0, 64)[None, :]
    store(r + i * 64 + k, dot(load(x + i * 64 + k).T, load(y + i * 64 + k).T))
