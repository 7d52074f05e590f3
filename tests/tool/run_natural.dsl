# RUN: fsc run --device=cpu --grid=1 %s y=%t.npy:u64[3] a=18446744073709551615 f=9223372036854775808 \
# RUN:   b=0x8000000000000001
# RUN: %python -c "import numpy as np; y = np.load('%t.npy'); assert y.tolist() == [2**64 - 1, 2**63, 2**63 + 1], y"
# RUN: not fsc run --device=cpu --grid=1 %s y=%t.npy:u64[3] a=0 f=0 b=0 n=18446744073709551615 2>&1 \
# RUN:   | FileCheck --check-prefix=FIT %s
# RUN: not fsc run --device=cpu --grid=1 %s y=%t.npy:u64[3] a=0 f=0 b=18446744073709551616 2>&1 \
# RUN:   | FileCheck --check-prefix=LARGE %s
# Integers from 2^63 on are values of u64 and of floating types.
@kernel
def k(y: *u64, a: u64, f: fp64, b: u64, n: i32 = 1):
    store(y, a)
    store(y + 1, f.to(u64))
    store(y + 2, b + n.to(u64) - 1)
# FIT: argument n is 18446744073709551615, which does not fit i32
# LARGE: 'b' is an integer (u64), not 18446744073709551616
