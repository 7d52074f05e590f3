# The largest of a row of 16 bits: two elements an instruction, extended behind it; where there is no such instruction,
# and for sums, extended first.
# RUN: fsc %s --kernel=largest -T T=fp16 --signature "*fp32:16, *fp16:16" --arch=sm_80 -o - \
# RUN:   | FileCheck %s --check-prefixes=ALL,F16
# RUN: fsc %s --kernel=largest -T T=bf16 --signature "*fp32:16, *bf16:16" --arch=sm_80 -o - \
# RUN:   | FileCheck %s --check-prefixes=ALL,BF16
# RUN: fsc %s --kernel=largest -T T=fp16 --signature "*fp32:16, *fp16:16" --arch=sm_75 -o - \
# RUN:   | FileCheck %s --check-prefix=OLD
# RUN: fsc %s --kernel=largest -T T=fp32 --signature "*fp32:16, *fp32:16" --arch=sm_80 -o - \
# RUN:   | FileCheck %s --check-prefix=OLD
# RUN: fsc %s --kernel=unextended -T T=fp16 --signature "*fp32:16, *fp16:16" --arch=sm_80 -o - \
# RUN:   | FileCheck %s --check-prefix=OLD
# OLD-NOT: 16x2
# OLD: max{{.*}}f32
# ALL: ld.global.v4.b32
# F16-COUNT-3: max.f16x2
# BF16-COUNT-3: max.bf16x2
# ALL-NOT: 16x2
# ALL: max.f32
# ALL: shfl.sync.bfly
@kernel(num_warps=1)
def largest(y: *fp32, x: *T, BLOCK: constexpr = 256, T: dtype = fp16):
    store(y, max(load(x + arange(0, BLOCK)).to(fp32), axis=0))


@kernel(num_warps=1)
def unextended(y: *fp32, x: *T, BLOCK: constexpr = 256, T: dtype = fp16):
    store(y, max(load(x + arange(0, BLOCK)).to(fp32) + 1.0, axis=0))
