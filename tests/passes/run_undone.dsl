# A list that a back end takes the result of is the pipeline without some of its optional passes: what it leaves undone,
# what stands out of order or is not for the target is an error, and nothing has run.
# RUN: exits 2 fsc %s --passes=online --print-after=all -o %t 2>&1 | FileCheck %s --check-prefix=ONLINE
# RUN: exits 2 fsc %s --passes=fold,dce,chunk,fma_dot,layout,dce2,exchange,shared -o %t 2>&1 \
# RUN:   | FileCheck %s --check-prefix=BARRIER
# RUN: exits 2 fsc %s --passes=fold,dce,chunk,fma_dot,layout,dce2,shared,exchange,barrier,barrier -o %t 2>&1 \
# RUN:   | FileCheck %s --check-prefix=ORDER
# RUN: exits 2 fsc %s --passes=fold,layout,dce --arch=cpu --emit=asm -o %t 2>&1 | FileCheck %s --check-prefix=CPU
# RUN: exits 2 fsc %s --passes= --arch=emu --emit=asm -o %t 2>&1 | FileCheck %s --check-prefix=NONE
# RUN: exits 2 fsc %s --passes=fold,pack,layout --emit=tile -o %t 2>&1 | FileCheck %s --check-prefix=STAGE
# RUN: exits 2 fsc %s --passes=fold,dce,unroll --emit=ast -o %t 2>&1 | FileCheck %s --check-prefix=NAME
# RUN: fsc %s --passes=fold,dce,chunk,fma_dot,layout,dce2,exchange,shared,barrier -o - \
# RUN:   | FileCheck %s --check-prefix=LEAST
# RUN: fsc %s --passes=fold,dce --arch=cpu --emit=asm -o - | FileCheck %s --check-prefix=CODE
# RUN: fsc %s --passes=cse,fold --emit=tile -o - | FileCheck %s --check-prefix=TILE
# ONLINE-NOT: IR Dump
# ONLINE: error: the list leaves out fold, dce, chunk, fma_dot, layout, dce2, exchange, shared, barrier, which the target's code needs [E0608]
# ONLINE-NOT: IR Dump
# BARRIER: error: the list leaves out barrier, which the target's code needs [E0608]
# BARRIER: note: code needs at least --passes=fold,dce,chunk,fma_dot,layout,dce2,exchange,shared,barrier; --emit=tile prints
# ORDER: error: pass 'exchange' stands behind 'shared', and code comes of passes in the pipeline's order alone [E0608]
# ORDER: error: pass 'barrier' stands behind 'barrier'
# ORDER-NOT: error:
# CPU: error: pass 'layout' is for GPUs and emu, and the target is cpu [E0608]
# CPU: error: pass 'dce' stands behind 'layout'
# CPU: note: code needs at least --passes=fold,dce;
# NONE: error: the list leaves out fold, dce, chunk, fma_dot, layout, dce2, exchange, shared, barrier,
# STAGE: error: pass 'pack' works on what each thread has, which 'layout' decides; put layout before it [E0608]
# NAME: error: unknown pass 'unroll' [E0603]
# LEAST: bar.sync
# CODE: soft:
# TILE: stage tile
@kernel(grid=(1,))
def soft(y: *fp32, x: *fp32):
    i = arange(0, 2048)
    v = load(x + i)
    store(y + i, exp(v - max(v)))
