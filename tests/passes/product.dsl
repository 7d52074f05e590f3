# RUN: fsc --emit=tile %s --kernel sums --signature "*fp32, *fp32, *fp32, 16, 32, 64" -o - | FileCheck %s
# RUN: fsc --emit=tile %s --kernel other --signature "*fp32, *fp32, *fp32, 16, 32, 64" -o - | FileCheck %s --check-prefix=OTHER
# RUN: fsc --emit=tile --passes=-product %s --kernel sums --signature "*fp32, *fp32, *fp32, 16, 32, 64" -o - | FileCheck %s --check-prefix=OTHER
# Sums of broadcast products are products of matrices, whatever the axes are called.

# CHECK-NOT: fmul
# CHECK-DAG: dot %x, %y, %{{.*}} : tile<16x64xfp32>
# CHECK-DAG: %[[U:.*]] = trans %y {perm = [1, 0]} : tile<64x32xfp32>
# CHECK-DAG: %[[T:.*]] = trans %x {perm = [1, 0]} : tile<32x16xfp32>
# CHECK-DAG: dot %[[U]], %[[T]], %{{.*}} : tile<64x16xfp32>
# CHECK-DAG: dot %x, %y, %acc{{.*}} : tile<16x64xfp32>
# CHECK-NOT: reduce
@kernel(grid=(1,))
def sums(z: *T, xs: *T, ys: *T, M: constexpr, K: constexpr, N: constexpr, T: dtype):
    m, k, n = arange(0, M), arange(0, K), arange(0, N)
    x = load(xs + m[:, None] * K + k[None, :])
    y = load(ys + k[:, None] * N + n[None, :])
    to = z + m[:, None] * N + n[None, :]
    store(to, sum(x[:, :, None] * y[None, :, :], 1))
    store(to + M * N, sum(y.T[:, None, :] * x[None, :, :], 2).T)
    acc = load(to + 2 * M * N)
    acc += sum(y[:, None, :] * x.T[:, :, None], 0)
    store(to + 2 * M * N, acc)

# What is no such product stays a sum: a tile that is there whole, a product that something else reads, other types.
# OTHER: fmul
# OTHER: reduce
@kernel(grid=(1,))
def other(z: *T, xs: *T, ys: *T, M: constexpr, K: constexpr, N: constexpr, T: dtype):
    m, k, n = arange(0, M), arange(0, K), arange(0, N)
    x = load(xs + m[:, None, None] * K + k[None, :, None] + n[None, None, :])
    y = load(ys + k[:, None] * N + n[None, :])
    # OTHER-NOT: dot
    store(z + m[:, None] * N + n[None, :], sum(x * y[None, :, :], 1))
