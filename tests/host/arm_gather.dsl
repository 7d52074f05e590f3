# LLVM 22 cannot select gathers of SVE into narrow elements wherever their bits are taken apart again: those are loaded
# element by element. Wider ones are gathers.
# REQUIRES: aarch64
# RUN: fsc %s --kernel=narrow --emit=asm --arch=cpu --cpu=sve256 -o - | FileCheck %s --check-prefix=NARROW
# RUN: fsc %s --kernel=narrow --emit=asm --arch=cpu --cpu=sve512 -O0 -o - | FileCheck %s --check-prefix=NARROW
# RUN: fsc %s --kernel=wide --emit=asm --arch=cpu --cpu=sve256 -o - | FileCheck %s --check-prefix=WIDE
# NARROW-NOT: ld1{{s?}}{{[bh]}} { z{{.*}}, z
# NARROW: {{ldrs?b w|ld1 [{] v[0-9]+\.b}}
# WIDE: ld1w { z{{.*}}, z
@kernel(grid=(1,))
def narrow(y: *i32, x: *const i8, at: *const i32, n: i32):
    i = arange(0, 64)
    taken = load(x + load(at + i), mask=i < n, other=7)
    store(y + i, where((taken & 1) == 1, taken.to(i32) * 3, taken.to(i32)))

@kernel(grid=(1,))
def wide(y: *fp32, x: *const fp32, at: *const i32, n: i32):
    i = arange(0, 64)
    store(y + i, load(x + load(at + i), mask=i < n, other=7.0))
