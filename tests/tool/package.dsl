# An object of three kernels: a function each, with C types, names that C, C++ and their libraries do not have,
# a grid where no rule tells it.
# RUN: rm -rf %t && mkdir %t && cp %s '%t/a b.dsl'
# RUN: env FSC_PTXAS=%t/none fsc --emit=object --arch=sm_90,cpu,sm_80,sm_90 '%t/a b.dsl' -o %t/k.o \
# RUN:   --header=%t/my-kernels.h -MD
# RUN: FileCheck --check-prefix=HEADER --implicit-check-not=scale_object2 %s < %t/my-kernels.h
# RUN: FileCheck --check-prefix=DEPEND %s < %t/k.d
# RUN: %python %S/Inputs/symbols.py %t/k.o shows scale new_ expf_ scale_object new_object expf_object
# RUN: env FSC_PTXAS=%t/none fsc --emit=c --kernel=new --arch=sm_80 %s -o %t/new.c -MD -MF %t/other.d
# RUN: FileCheck --check-prefix=C --implicit-check-not=scale %s < %t/new.c
# RUN: FileCheck --check-prefix=OTHER %s < %t/other.d
# HEADER: #ifndef FSC_MADE_MY_KERNELS_H
# HEADER: #include <fsc_runtime.h>
# HEADER: extern "C" {
# HEADER: /* Kernel scale of {{.*}}a b.dsl, for sm_80, sm_90, cpu{{.*}}. It has no launch rule: grid is the number of programs along x, y and z.
# HEADER-NEXT: *   y: fp16
# HEADER: fsc_status scale(fsc_stream stream_, const int64_t grid[3], FSC_TYPE_FP16 *y, const bool *stream, float by, double plus, float half, bool flag, uint16_t u, int8_t i, uint64_t n);
# HEADER-NEXT: extern fsc_object scale_object;
# HEADER: /* Kernel new of {{.*}}, for sm_80, sm_90, cpu{{.*}}.
# HEADER-NEXT: *   register: i32[n:1] (extent:stride, in elements)
# HEADER: fsc_status new_(fsc_stream stream, int32_t *register_, int32_t n);
# HEADER: fsc_status expf_(fsc_stream stream, int32_t *fsc_y_, int32_t NULL_, int32_t sin);
# DEPEND: k.o {{.*}}my-kernels.h: {{.*}}a\ b.dsl
# C: fsc_status new_(fsc_stream stream, int32_t *register_, int32_t n) {
# C-NEXT: const void *const values[] = {&register_, &n, NULL};
# C-NEXT: return fsc_object_launch(&new_object, stream, NULL, values);
# OTHER: new.c: {{.*}}package.dsl
@kernel
def scale(y: *fp16, stream: *i1, by: fp32, plus: fp64, half: fp16, flag: i1, u: u16, i: i8, n: u64):
    at = program_id(0) * 32 + arange(0, 32)
    v = load(stream + at).to(fp32) * by + half + u + i + n.to(fp32)
    store(y + at, (where(flag, v, -v) + plus).to(fp16))


@kernel(grid=(cdiv(n, 32),))
def new(register: *i32[n], n: i32):
    at = program_id(0) * 32 + arange(0, 32)
    store(register + at, at, mask=at < n)


@kernel(grid=(1,))
def expf(fsc_y: *i32, NULL: i32, sin: i32):
    store(fsc_y + arange(0, 32), NULL + sin)
