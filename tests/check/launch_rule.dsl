# RUN: fsc --emit=report %s -o - | FileCheck %s
# The launch rule as code, contracts with their strides, conditions with their text.
# CHECK: param pointer y fp32
# CHECK-NEXT: dim "$2" "$1"
# CHECK-NEXT: dim "$3" "1"
# CHECK: param pointer z fp32 const
# CHECK-NEXT: dim "$2" "$3 4 *"
# CHECK-NEXT: dim "$3" "4"
# CHECK-NEXT: dim "4" "1"
# CHECK: param constexpr BLOCK int 1024 default "$3 npow2"
# CHECK: grid "$2 num_sms occupancy * min"
# CHECK: num_warps "$3 2048 > 8 4 sel"
# CHECK: require "$5 $3 >=" "BLOCK >= n"
# CHECK: require "$2 0 >" "rows > 0"
@kernel(grid=(min(rows, num_sms() * occupancy()),), BLOCK=next_power_of_2(n), num_warps=8 if n > 2048 else 4,
        require=(BLOCK >= n, rows > 0))
def k(y: *fp32[rows:stride, n], stride: i32, rows: i32, n: i32, z: *const fp32[rows, n, 4], BLOCK: constexpr = 1024):
    store(y + program_id(0) * stride + arange(0, BLOCK), load(z))
