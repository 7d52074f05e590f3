# RUN: fsc %s --kernel flat -o %t 2>&1 | FileCheck --check-prefix=FLAT %s
# RUN: fsc %s --kernel rows -o %t 2>&1 | FileCheck --check-prefix=ROWS %s
# RUN: fsc %s --kernel fixed -o %t 2>&1 | FileCheck --check-prefix=FIXED %s
# RUN: fsc %s --kernel silent -o %t 2>&1 | FileCheck --check-prefix=SILENT --allow-empty %s
# What a contract says of an index, and no mask or one index too late bounds.
# The same kernels compile for the CPU with the same warnings:
# RUN: fsc %s --kernel rows --arch=cpu --emit=asm -o %t 2>&1 | FileCheck --check-prefix=ROWS %s
@kernel(grid=(cdiv(n, B),))
def flat(x: *fp32[n], y: *fp32[n], n: i32, B: constexpr = 128):
    i = program_id(0) * B + arange(0, B)
    # FLAT: warn_masks.dsl:[[#@LINE+2]]:9: warning: 'x' has n elements along axis 0, and no mask keeps this index, which goes up to 127, inside [W0401]
    # FLAT: this index goes along the axis; a mask such as index < n keeps it inside
    v = load(x + i)
    c = arange(0, B)
    # FLAT: warn_masks.dsl:[[#@LINE+3]]:5: warning: the mask lets index n through, and 'y' ends before it along axis 0 [W0401]
    # FLAT: the mask is made here; take index < n
    # FLAT-NOT: warning:
    store(y + c, v, mask=c <= n)

@kernel(grid=(1,))
def rows(x: *fp32[n_rows:stride, n_cols], stride: i32, n_rows: i32, n_cols: i32):
    r = arange(0, 16)[:, None]
    c = arange(0, 64)[None, :]
    # A mask of rows says nothing of columns, and the other way round.
    # ROWS: [[#@LINE+1]]:9: warning: 'x' has n_cols elements along axis 1, and no mask keeps this index, which goes up to 63, inside [W0401]
    v = load(x + r * stride + c, mask=r < n_rows)
    # ROWS: [[#@LINE+2]]:5: warning: 'x' has n_rows elements along axis 0, and no mask keeps this index, which goes up to 15, inside [W0401]
    # ROWS-NOT: warning:
    store(x + r * stride + c, v, mask=(c < n_cols) & (c > 0))

@kernel(grid=(1,))
def fixed(x: *fp32[100]):
    # FIXED: warning: 'x' has 100 elements along axis 0, and no mask keeps this index, which goes up to 127, inside [W0401]
    # FIXED-NOT: warning:
    v = load(x + arange(0, 128))
    store(x + arange(0, 64), sum(v, axis=0))

# Masked; without a contract; fitting by construction; in a branch that may know more; indexes that are loaded.
# SILENT-NOT: warning:
@kernel(grid=(1,), require=(m == B,))
def silent(x: *fp32[n], y: *fp32, z: *fp32[m], k: *i32, n: i32, m: i32, B: constexpr = 64):
    c = arange(0, B)
    v = load(x + c, mask=c < n) + load(y + c) + load(z + c)
    w = load(x + n - 1 - c, mask=n - 1 - c >= 0)
    if n == B:
        v += load(x + c)
    i = load(k + c)
    for j in range(0, n - n % B, B):
        v += load(x + j + c)
    store(x + i, v + w)
