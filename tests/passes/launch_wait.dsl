# RUN: fsc %s --kernel=rows --overlap --print-after=launch_wait -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
# RUN: fsc %s --kernel=branch --overlap --print-after=launch_wait -o /dev/null 2>&1 | FileCheck %s --check-prefix=BRANCH
# RUN: fsc %s --kernel=own --overlap --print-after=launch_wait -o /dev/null 2>&1 | FileCheck %s --check-prefix=OWN
# RUN: fsc %s --kernel=trigger --overlap --print-after=launch_wait -o /dev/null 2>&1 \
# RUN:   | FileCheck %s --check-prefix=TRIGGER
# RUN: fsc %s --kernel=nothing --overlap --print-after=launch_wait -o /dev/null 2>&1 \
# RUN:   | FileCheck %s --check-prefix=NOTHING
# RUN: fsc %s --kernel=rows --print-after=launch_wait -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOTHING
# RUN: fsc %s --kernel=rows --overlap --arch=sm_90 -o - | FileCheck %s --check-prefix=PTX
# RUN: fsc %s --kernel=rows --overlap --arch=sm_80 -o - | FileCheck %s --check-prefix=OLD
# RUN: fsc %s --kernel=rows --overlap --arch=cpu --emit=asm -o - | FileCheck %s --check-prefix=OLD
# RUN: fsc info %s --kernel=rows --overlap --gpu=h200 n=5 | FileCheck %s --check-prefix=INFO
# A launch that may begin early waits ahead of its first access, in the body; where the source says so, there alone.
# PTX: griddepcontrol.wait;
# PTX: ld.global
# OLD-NOT: griddepcontrol
# NOTHING-NOT: gdc
# INFO: may begin


# ROWS: program_id
# ROWS: gdc_wait
# ROWS-NEXT: load
# ROWS-NOT: gdc_wait
@kernel(grid=(n,))
def rows(y: *fp32, x: *fp32, n: i32):
    i = program_id(0) * 64 + arange(0, 64)
    store(y + i, load(x + i))


# BRANCH: gdc_wait
# BRANCH-NEXT: if
# BRANCH-NOT: gdc_wait
@kernel(grid=(n,))
def branch(y: *fp32, n: i32):
    if program_id(0) > 3:
        return
    store(y + program_id(0), 1.0)


# OWN: load
# OWN: gdc_wait
# OWN-NOT: gdc_wait
@kernel(grid=(n,))
def own(y: *fp32, w: *fp32, n: i32):
    i = arange(0, 64)
    v = load(w + i)
    gdc_wait()
    store(y + program_id(0) * 64 + i, v)


# TRIGGER: gdc_launch_dependents
# TRIGGER: gdc_wait
# TRIGGER-NEXT: store
@kernel(grid=(n,))
def trigger(y: *fp32, n: i32):
    gdc_launch_dependents()
    store(y + program_id(0), 1.0)


@kernel(grid=(n,))
def nothing(n: i32):
    pass
