# Barriers between accesses of global memory: only where threads may cross.
# RUN: fsc --emit=simt --kernel=same %s -o - | FileCheck %s --check-prefix=NONE
# RUN: fsc --emit=simt --kernel=rows %s -o - | FileCheck %s --check-prefix=NONE
# RUN: fsc --emit=simt --kernel=tiled %s -o - | FileCheck %s --check-prefix=NONE
# RUN: fsc --emit=simt --kernel=apart %s -o - | FileCheck %s --check-prefix=NONE
# RUN: fsc --emit=simt --kernel=half_apart %s -o - | FileCheck %s --check-prefix=BLOCK
# RUN: fsc --emit=simt --kernel=columns_apart %s -o - | FileCheck %s --check-prefix=BLOCK
# RUN: fsc --emit=simt --kernel=constant %s -o - | FileCheck %s --check-prefix=NONE
# RUN: fsc --emit=simt --kernel=reversed %s -o - | FileCheck %s --check-prefix=BLOCK
# RUN: fsc --emit=simt --kernel=reversed --num-warps=1 %s -o - | FileCheck %s --check-prefix=WARP
# RUN: fsc --emit=simt --kernel=scalar %s -o - | FileCheck %s --check-prefix=BLOCK
# RUN: fsc --emit=simt --kernel=replicas --num-warps=4 %s -o - | FileCheck %s --check-prefix=BLOCK
# RUN: fsc --emit=simt --kernel=rounds %s -o - | FileCheck %s --check-prefix=LOOP
# NONE-NOT: barrier
# BLOCK: load
# BLOCK: barrier block
# BLOCK-NEXT: store
# WARP: load
# WARP: barrier warp
# WARP-NEXT: store
# LOOP: for
# LOOP: barrier block
# LOOP-NEXT: load
# LOOP-NOT: barrier
# LOOP: store
# LOOP-NOT: barrier

# In place or not: each thread stores what it loaded.
@kernel(grid=(1,), num_warps=4)
def same(y: *fp32, x: *fp32):
    i = program_id(0) * 1024 + arange(0, 1024)
    store(y + i, load(x + i) + 1)

# The strides of two pointers into one buffer are taken to be equal.
@kernel(grid=(1,), num_warps=4)
def rows(y: *fp32, x: *fp32, y_stride: i32, x_stride: i32):
    i = arange(0, 1024)
    store(y + program_id(0) * y_stride + i, load(x + program_id(0) * x_stride + i) + 1)

# From round to round whole tiles further.
@kernel(grid=(1,), num_warps=4)
def tiled(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 1024)
    for k in range(0, n, 1024):
        store(y + k + i, load(x + k + i) + 1)

# A loop of whole tiles, and one that lies whole tiles further.
@kernel(grid=(1,), num_warps=4)
def apart(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 1024)
    v = load(x + 8192 + i)
    for k in range(1024, 8192, 1024):
        store(y + k + i, v)

# Half a tile further: elements of two tiles are one, of other threads.
@kernel(grid=(1,), num_warps=4)
def half_apart(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 1024)
    v = load(x + 8192 + 512 + i)
    for k in range(1024, 16384, 1024):
        store(y + k + i, v)

# Elements that do not lie side by side: whole tiles further they may be one.
@kernel(grid=(1,), num_warps=4)
def columns_apart(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 1024) * n
    v = load(x + 8192 + i)
    for k in range(1024, 16384, 1024):
        store(y + k + i, v)

# Nothing writes what a const pointer names.
@kernel(grid=(1,), num_warps=4)
def constant(y: *fp32, x: *const fp32):
    i = arange(0, 1024)
    store(y + i, load(x + 1023 - i))

@kernel(grid=(1,), num_warps=4)
def reversed(y: *fp32, x: *fp32):
    i = arange(0, 1024)
    store(y + i, load(x + 1023 - i))

# All threads load the scalar, one stores it.
@kernel(grid=(1,), num_warps=4)
def scalar(x: *fp32):
    store(x, load(x) + 1)

# A tile of fewer elements than threads: several load each, one stores it.
@kernel(grid=(1,))
def replicas(y: *fp32, x: *fp32):
    i = arange(0, 16)
    store(y + i, load(x + i) + 1)

# The next round reads what other threads stored in this one.
@kernel(grid=(1,), num_warps=4)
def rounds(x: *fp32, y: *fp32, n: i32):
    i = arange(0, 1024)
    for k in range(0, n):
        store(x + k + i, load(x + k + i) + 1)
