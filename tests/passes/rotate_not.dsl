# Where places mean something, or vectors are aligned as it is, nothing is rotated: a scan, a second axis, too short a
# row, a multiple of 16. A loop over whole tiles of a row is. So are rows of 1024 places that outweigh their weights:
# two to one of 32 bits, four to one of 16.
# RUN: fsc %s --kernel scans --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel rank2 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel small --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel weighed -T T=bf16 --emit=simt -o - | FileCheck %s
# RUN: fsc %s --kernel weighed --emit=simt -o - | FileCheck %s --check-prefix=WEIGHED
# WEIGHED: load {{.*}}, rotated
# RUN: fsc %s --kernel aligned --emit=simt -o - --signature "*fp32:16, *fp32:16, i32:16" | FileCheck %s
# RUN: fsc %s --kernel aligned --emit=simt -o - -O0 | FileCheck %s
# RUN: fsc %s --kernel aligned --emit=simt -o - | FileCheck %s --check-prefix=ROTATED
# RUN: fsc %s --kernel tiled --emit=simt -o - | FileCheck %s --check-prefix=ROTATED
# CHECK-NOT: arange_rotated
# CHECK-NOT: rotated
# ROTATED: arange_rotated
# ROTATED: load {{.*}}, rotated, versioned}
# ROTATED: store {{.*}}, rotated}
@kernel(grid=(1,))
def scans(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 2048)
    store(y + n + i, cumsum(load(x + n + i), 0))

@kernel(grid=(1,))
def rank2(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 2048)
    v = load(x + n + i)
    store(y + n + i, v)
    j = arange(0, 4)
    store(y + (j[:, None] * 1000 + i[None, :]), v[None, :] + j[:, None].to(fp32))

@kernel(grid=(1,))
def small(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 512)
    store(y + n + i, load(x + n + i))

@kernel(grid=(1,))
def weighed(y: *T, x: *T, w: *const T, b: *const T, n: i32, T: dtype = fp32):
    i = arange(0, 1024)
    store(y + n + i, load(x + n + i) * load(w + i))
    store(y + n + n + i, load(x + n + n + i) * load(b + i))

@kernel(grid=(1,))
def aligned(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 2048)
    store(y + program_id(0) * n + i, load(x + program_id(0) * n + i))

@kernel(grid=(1,))
def tiled(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 2048)
    base = program_id(0) * n
    for k in range(0, n, 2048):
        v = load(x + base + k + i, mask=k + i < n)
        store(y + base + k + i, v, mask=k + i < n)
