# Weights are read ahead of the wait for earlier launches, the row behind it. Before Hopper and on the CPU: none.
# RUN: fsc %s --arch=sm_90 -o - | FileCheck %s
# RUN: fsc %s --arch=sm_80 -o - | FileCheck %s --check-prefix=NONE
# RUN: fsc %s --arch=cpu --emit=asm -o - | FileCheck %s --check-prefix=NONE
# RUN: fsc %s --emit=tile -o - | FileCheck %s --check-prefix=TILE
# RUN: fsc info %s -D N=128 --gpu=h200 | FileCheck %s --check-prefix=INFO
# RUN: fsc info %s -D N=128 --gpu=h200 --json | FileCheck %s --check-prefix=JSON
# RUN: fsc info %s -D N=128 --gpu=a100 --json | FileCheck %s --check-prefix=BEFORE
# CHECK: ld.global
# CHECK: griddepcontrol.wait;
# CHECK: griddepcontrol.launch_dependents;
# CHECK: ld.global
# CHECK: st.global
# NONE-NOT: griddepcontrol
# NONE-NOT: overlaps
# TILE: load
# TILE-NEXT: gdc_wait
# TILE-NEXT: gdc_launch_dependents
# TILE: load
# INFO: may begin {{ *}}before the launches ahead end
# JSON: "overlaps": true
# BEFORE: "overlaps": false
@kernel(grid=(1,), num_warps=4)
def k(x: *fp32, w: *fp32, N: constexpr = 128):
    i = arange(0, N)
    weight = load(w + i)
    gdc_wait()
    gdc_launch_dependents()
    store(x + i, load(x + i) * weight)
