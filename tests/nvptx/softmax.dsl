# The flagship: 16-byte accesses, one exchange with one barrier, ex2,
# one division for the whole row and none an element.
# RUN: fsc %s --emit=ptx --arch=sm_90 --signature "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32" -o - | FileCheck %s
# CHECK: .target sm_90
# CHECK: .visible .entry softmax(
# CHECK: ld.global.v4.b32
# CHECK: max.f32
# CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
# CHECK: ex2.approx.ftz.f32
# CHECK: st.shared.v2.b32
# CHECK: bar.sync 0;
# CHECK: ld.shared.v2.b32
# CHECK: div.full.f32
# CHECK-NOT: {{div\.|rcp|bar.sync}}
# CHECK: st.global.v4.b32
# CHECK-NOT: .local
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols))
def softmax(y: *fp32, x: *fp32, y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask, other=-inf)
    e = exp(v - max(v, axis=0))
    store(y + row * y_stride + cols, e / sum(e, axis=0), mask=mask)
