# The PTX of atomics: operation, type, order and scope; red where a dropped result allows it; one thread for a scalar.
# RUN: fsc --emit=ptx --kernel=ops %s -o - | FileCheck %s --check-prefix=OPS
# RUN: fsc --emit=ptx --kernel=orders %s -o - | FileCheck %s --check-prefix=ORDERS
# RUN: fsc --emit=ptx --kernel=floats %s -o - | FileCheck %s --check-prefix=FLOATS
# RUN: fsc --emit=ptx --arch=sm_90 --kernel=small -T T=fp16 %s -o - | FileCheck %s --check-prefix=FP16
# RUN: fsc --emit=ptx --arch=sm_90 --kernel=small -T T=bf16 %s -o - | FileCheck %s --check-prefix=BF16
# RUN: fsc --emit=ptx --arch=sm_80 --kernel=small -T T=bf16 %s -o - | FileCheck %s --check-prefix=LOOP
# RUN: fsc --emit=ptx --kernel=scalar --num-warps=4 %s -o - | FileCheck %s --check-prefix=SCALAR
# RUN: fsc --emit=ptx --kernel=replicas --num-warps=4 %s -o - | FileCheck %s --check-prefix=REPLICAS

# OPS: red.relaxed.gpu.global.add.u32 [
# OPS: red.relaxed.gpu.global.max.s32 [
# OPS: red.relaxed.gpu.global.min.s32 [
# OPS: red.relaxed.gpu.global.max.u64 [
# OPS: red.relaxed.gpu.global.min.u64 [
# OPS: red.relaxed.gpu.global.and.b32 [
# OPS: red.relaxed.gpu.global.or.b32 [
# OPS: red.relaxed.gpu.global.xor.b64 [
# OPS: atom.relaxed.gpu.global.exch.b64 _, [
# OPS: atom.relaxed.gpu.global.cas.b32 _, [
@kernel(grid=(1,), num_warps=1)
def ops(x: *i32, y: *u64):
    i = arange(0, 32)
    atomic_add(x + i, i, sem="relaxed")
    atomic_max(x + i, i, sem="relaxed")
    atomic_min(x + i, i, sem="relaxed")
    atomic_max(y + i, 5, sem="relaxed")
    atomic_min(y + i, 5, sem="relaxed")
    atomic_and(x + i, i, sem="relaxed")
    atomic_or(x + i, i, sem="relaxed")
    atomic_xor(y + i, 5, sem="relaxed")
    atomic_xchg(y + i, 5, sem="relaxed")
    atomic_cas(x + i, i, 3, sem="relaxed")

# A release waits for what came before, and what follows an acquire waits for it.
# ORDERS: ld.global
# ORDERS: bar.warp.sync
# ORDERS: red.release.cta.global.add.u32 [
# ORDERS: atom.acquire.sys.global.add.u32 _, [
# ORDERS: bar.warp.sync
# ORDERS: atom.acq_rel.gpu.global.add.u32 _, [
# ORDERS: bar.warp.sync
# ORDERS: @%p{{[0-9]+}} atom.acq_rel.gpu.global.add.u32 %r{{[0-9]+}}, [
@kernel(grid=(1,), num_warps=1)
def orders(x: *i32, y: *i32):
    i = arange(0, 32)
    v = load(y + i)
    atomic_add(x + i, v, sem="release", scope="cta")
    atomic_add(x + i, 1, sem="acquire", scope="sys")
    atomic_add(x + i, 1)
    store(y + i, atomic_add(x + i, 1, mask=i < 20))

# FLOATS: red.relaxed.gpu.global.add.f32 [
# FLOATS: red.relaxed.gpu.global.add.f64 [
# FLOATS: @%p{{[0-9]+}} red.relaxed.gpu.global.max.s32 [
# FLOATS: @%p{{[0-9]+}} red.relaxed.gpu.global.min.u32 [
# FLOATS: @%p{{[0-9]+}} red.relaxed.gpu.global.min.s64 [
# FLOATS: @%p{{[0-9]+}} red.relaxed.gpu.global.max.u64 [
@kernel(grid=(1,), num_warps=1)
def floats(x: *fp32, y: *fp64):
    i = arange(0, 32)
    atomic_add(x + i, 1.5, sem="relaxed")
    atomic_add(y + i, 1.5, sem="relaxed")
    atomic_max(x + i, load(x + i), sem="relaxed")
    atomic_min(y + i, load(y + i), sem="relaxed")

# FP16: red.relaxed.gpu.global.add.noftz.f16 [
# BF16: .version {{7.8|8|9}}
# BF16: red.relaxed.gpu.global.add.noftz.bf16 [
# LOOP: atom.relaxed.gpu.global.cas.b16 %rs
# LOOP: setp.ne.b16
# LOOP: bra
@kernel(grid=(1,), num_warps=1)
def small(x: *T, T: dtype):
    atomic_add(x + arange(0, 32), 1.5, sem="relaxed")

# The first thread does it, and all read its result.
# SCALAR: setp.eq.b32 [[FIRST:%p[0-9]+]], %r{{[0-9]+}}, 0
# SCALAR: @[[FIRST]] atom.acq_rel.gpu.global.add.u32 %r{{[0-9]+}}
# SCALAR: @[[FIRST]] st.shared.b32
# SCALAR: bar.sync
# SCALAR: ld.shared.b32
@kernel(grid=(1,))
def scalar(next: *i32, y: *i32):
    store(y + atomic_add(next, 1) + arange(0, 128), 1)

# REPLICAS: @%p{{[0-9]+}} atom.relaxed.gpu.global.exch.b32
# REPLICAS-NOT: atom.
# REPLICAS: st.shared
# REPLICAS: bar.sync
# REPLICAS: ld.shared
@kernel(grid=(1,))
def replicas(x: *i32, y: *i32):
    i = arange(0, 8)
    store(y, sum(atomic_xchg(x + i, i, sem="relaxed") * i, axis=0))
