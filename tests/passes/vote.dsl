# How many neighbours a thread holds is a vote of the accesses that share a layout, by what they cost.
# RUN: fsc %s --kernel weights --emit=simt -o - | FileCheck %s --check-prefix=WEIGHTS
# RUN: fsc %s --kernel weights --emit=simt -o - -Rperf 2>&1 | FileCheck %s --check-prefix=REMARK
# RUN: fsc %s --kernel narrow --emit=simt -o - | FileCheck %s --check-prefix=NARROW
# RUN: fsc %s --kernel apart --emit=simt -o - | FileCheck %s --check-prefix=APART
# RUN: fsc %s --kernel adds --emit=simt -o - | FileCheck %s --check-prefix=ADDS
# RUN: fsc %s --kernel turns --emit=simt -o - | FileCheck %s --check-prefix=TURNS
# RUN: fsc %s --kernel scattered --emit=simt -o - | FileCheck %s --check-prefix=SCATTERED

# Rows that begin anywhere: neighbouring lanes have neighbours, although the weights are aligned.
# WEIGHTS: #layout<[1024] reg=[128,256,512] lane=[1,2,4,8,16] warp=[32,64] cta=[]>
# WEIGHTS: load {{.*}} {align = 2, mask = uniform} : tile<1024xbf16
# WEIGHTS: load {{.*}} {align = 2, mask = uniform{{.*}}} : tile<1024xbf16
# WEIGHTS: store {{.*}} {align = 2, mask = uniform}
# REMARK: vote.dsl:[[#@LINE+5]]:9: remark: this access takes 1 of 8 aligned elements at a time: the layout is that of accesses that cost more [R0106]
@kernel(grid=(1,), num_warps=4)
def weights(y: *bf16, x: *bf16, w: *const bf16, n: i32):
    c = arange(0, 1024)
    v = load(multiple_of(x, 16) + program_id(0) * n + c, mask=c < n)
    w = load(multiple_of(w, 16) + c, mask=c < n)
    store(multiple_of(y, 16) + program_id(0) * n + c, v * w, mask=c < n)

# 16 bytes of the wide type, 8 of the narrow one: lanes leave no gaps in either.
# NARROW: load {{.*}} {align = 16, vec = 8
# NARROW: store {{.*}} {align = 8, vec = 8
@kernel(grid=(1,), num_warps=4)
def narrow(y: *i8, x: *fp16):
    c = arange(0, 1024)
    store(multiple_of(y, 16) + c, (load(multiple_of(x, 16) + c) * 2).to(i8))

# A tile and its transpose have each a vote.
# APART: load {{.*}} {align = 16, vec = 4}
# APART: trans
# APART: store {{.*}} {align = 4}
@kernel(grid=(1,), num_warps=4)
def apart(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 32)
    j = arange(0, 32)
    v = load(multiple_of(x, 16) + i[:, None] * 64 + j[None, :])
    store(multiple_of(y, 16) + i[:, None] * n + j[None, :], trans(v))

# An atomic takes one element: of neighbours in neighbouring lanes many are in a sector.
# ADDS: load {{.*}} {align = 4}
# ADDS: atomic_rmw
@kernel(grid=(1,), num_warps=4)
def adds(y: *fp32, x: *fp32):
    c = arange(0, 1024)
    atomic_add(multiple_of(y, 16) + c, load(multiple_of(x, 16) + c))

# What a loop moves counts more than what is stored once.
# TURNS: load {{.*}} {align = 16, vec = 4}
# TURNS: store {{.*}} {align = 4}
@kernel(grid=(1,), num_warps=4)
def turns(y: *fp32, x: *fp32, n: i32):
    c = arange(0, 512)
    x = multiple_of(x, 16)
    s = zeros((512,), fp32)
    for k in range(0, n):
        s += load(x + k * 512 + c)
    store(y + n + c, s)

# Scattered addresses cost the same in any layout.
# SCATTERED: load {{.*}} {align = 16, vec = 4}
# SCATTERED: load {{.*}} {align = 4}
# SCATTERED: store {{.*}} {align = 16, vec = 4}
@kernel(grid=(1,), num_warps=4)
def scattered(y: *fp32, x: *fp32, at: *i32):
    c = arange(0, 1024)
    store(multiple_of(y, 16) + c, load(x + load(multiple_of(at, 16) + c)))
