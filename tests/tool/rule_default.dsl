# RUN: fsc run --device=emu --no-cache %s x=random:0:fp32[3,77] y=%t.npy 2>&1 | FileCheck %s
# RUN: fsc run --device=cpu --no-cache -D LEAST=256 %s x=random:0:fp32[3,77] y=%t.npy 2>&1 | FileCheck %s
# RUN: fsc --emit=report -D n=77 %s -o - | FileCheck --check-prefix=VALUE %s
# A launch rule may ask for a parameter that has nothing but a default, and stands behind.
@kernel(grid=(rows,), BLOCK=max(LEAST, next_power_of_2(n)))
def copy(y: *fp32[rows, n], x: *fp32[rows, n], rows: i32, n: i32, BLOCK: constexpr = 32, LEAST: constexpr = 4):
    i = arange(0, BLOCK)
    row = program_id(0) * n
    store(y + row + i, load(x + row + i, mask=i < n), mask=i < n)
# CHECK: copy on
# VALUE: param constexpr BLOCK int 128 rule
