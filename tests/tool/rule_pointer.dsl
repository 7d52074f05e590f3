# RUN: fsc info %s rows=2 n=77 | FileCheck --check-prefix=INFO %s
# RUN: fsc %s --emit=report -o - | FileCheck %s
# A launch rule may ask whether two arrays are the same.
@kernel(grid=(rows,), SAME=y == x, BLOCK=next_power_of_2(n))
def twice(y: *fp32[rows, n], x: *fp32[rows, n], rows: i32, n: i32, SAME: constexpr = False, BLOCK: constexpr = 32):
    i = arange(0, BLOCK)
    v = load(x + program_id(0) * n + i, mask=i < n)
    store(y + program_id(0) * n + i, -v if SAME else 2.0 * v, mask=i < n)
# INFO: SAME {{ *}}0 (launch rule)
# CHECK: param constexpr SAME bool 0 default "$0 $1 =="
