# RUN: fsc run --device=cpu --kernel add %s x=zeros:fp32[100] y=%t.npy
# RUN: %python -c "import numpy as np; y = np.load('%t.npy'); assert y.shape == (100,) and np.all(y == 2.5), y"
# RUN: fsc run --device=cpu --kernel add %s x=zeros:fp32[7,11] y=%t.npy:fp32[77] shift=1.0
# RUN: %python -c "import numpy as np; y = np.load('%t.npy'); assert y.shape == (77,) and np.all(y == 4.0), y"
# RUN: exits 2 fsc run --device=cpu --kernel add %s x=zeros:fp32[7,11] n=76 y=%t.npy 2>&1 \
# RUN:   | FileCheck --check-prefix=COUNT %s
# RUN: exits 2 fsc run --device=cpu --kernel add %s x=zeros:fp32[7,11] y=%t.npy:fp32[78] 2>&1 \
# RUN:   | FileCheck --check-prefix=BOTH %s
# RUN: fsc --emit=report --kernel add %s -o - | FileCheck --check-prefix=REPORT %s
# RUN: fsc info --gpu=h100 --kernel add %s n=1000 | FileCheck --check-prefix=INFO %s
# RUN: not fsc --kernel wrong %s -o - 2>&1 | FileCheck --check-prefix=WRONG %s
# A scalar's default stands where nobody says the scalar.
# An array of any rank is one row where the contract has one dimension.
# COUNT: fsc run: n is 76 by n=76, and 77 by the number of elements of x
# BOTH: fsc run: n is 77 by the number of elements of x, and 78 by the shape of y
# REPORT: param scalar n i32
# REPORT-NEXT: param scalar shift fp32 default=-0.5
# REPORT-NEXT: param scalar rows i32 default=3
# INFO: grid {{ *}}8 x 3 x 1
@kernel(grid=(cdiv(n, B), rows))
def add(x: *fp32[n], y: *fp32[n], n: i32, shift: fp32 = -0.5, rows: i32 = 3, B: constexpr = 128):
    i = program_id(0) * B + arange(0, B)
    store(y + i, load(x + i, mask=i < n) + shift + rows, mask=i < n)


# WRONG: error: the default of 'n' is the float 0.5, which is no i32 [E0308]
@kernel(grid=(1,))
def wrong(x: *fp32, n: i32 = 0.5):
    store(x, n)
