# What bounds an argument: assume() at the top, -D with <= and >=; the record has them.
# RUN: fsc %s --emit=tile -o - | FileCheck %s
# RUN: fsc %s --emit=report -o - | FileCheck %s --check-prefix=RECORD
# RUN: fsc %s --emit=report -D 'a<=90' -D 'a>=20' -D 'a<=99' -D 'b<=0x10' -o - | FileCheck %s --check-prefix=BOTH
# RUN: exits 2 fsc %s -D 'a<=many' -o - 2>&1 | FileCheck %s --check-prefix=NUMBER
# RUN: exits 2 fsc %s -D 'a<=-1' -o - 2>&1 | FileCheck %s --check-prefix=NEGATIVE
# RUN: exits 2 fsc %s -D 'B<=16' -o - 2>&1 | FileCheck %s --check-prefix=CONSTEXPR
# RUN: exits 2 fsc %s -D 'f<=16' -o - 2>&1 | FileCheck %s --check-prefix=FLOAT
# RUN: exits 2 fsc %s -D 'z<=16' -o - 2>&1 | FileCheck %s --check-prefix=NAME
# CHECK: %a: i32 {nonnegative, least = 17, most = 100}, %b: i64 {nonnegative, most = 4095}, %c: i32, %f: fp32
# RECORD: param scalar a i32 least=17 most=100
# RECORD: param scalar b i64 most=4095
# RECORD: param scalar c i32{{$}}
# BOTH: param scalar a i32 least=20 most=90
# BOTH: param scalar b i64 most=16
# NUMBER: error: -D a<=many: a bound is a number from 0 to 4294967295
# NEGATIVE: error: -D a<=-1: a bound is a number from 0 to 4294967295
# CONSTEXPR: error: -D B<=16: only an integer that is passed at run time has bounds
# FLOAT: error: -D f<=16: only an integer that is passed at run time has bounds
# NAME: error: -D z: 'k' has no parameter 'z'
@kernel(grid=(1,))
def k(y: *i64, a: i32, b: i64, c: i32, f: fp32, B: constexpr = 4):
    assume(a <= 100)
    assume(a > 16)
    assume(b < 4096)
    assume(b >= 0)
    if c > 0:
        assume(c <= 8)  # holds here alone
    store(y, a + b + c)
