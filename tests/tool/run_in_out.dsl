# A buffer that the kernel reads and writes: a file that is not there is no output,
# unless its shape says what to begin with.
# RUN: rm -f %t.npy
# RUN: exits 2 fsc run --device=cpu %s y=%t.npy 2>&1 | FileCheck %s
# RUN: fsc run --device=cpu --warmup 0 --repeat 0 %s y=%t.npy:i32[4] 2>&1 | count 0
# RUN: fsc run --device=cpu --warmup 0 --repeat 0 %s y=%t.npy 2>&1 | count 0
# CHECK: fsc run: there is no '{{.*}}.npy', and kernel count may read y; give y=zeros:i32[4,8], or to have it written, with its shape: y={{.*}}.npy:i32[4,8]
@kernel(grid=(4,))
def count(y: *i32[n], n: i32):
    i = program_id(0)
    store(y + i, load(y + i) + 1)
