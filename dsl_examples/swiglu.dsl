# SwiGLU and GeGLU, gates of a transformer's feed-forward layer: y = silu(gate) * up, or gelu(gate) * up.
#
#   y[i, j] = gate[i, j] * sigmoid(z) * up[i, j]
#   z = gate[i, j]                                               GELU = False
#   z = 2 sqrt(2 / pi) (gate[i, j] + 0.044715 gate[i, j]^3)      GELU = True: its tanh form, (1 + tanh(z / 2)) / 2
#
# gate and up are often the two halves of one matrix: then both have its row stride, and up begins half a row later.
#
#   fsc run swiglu.dsl gate=g.npy up=u.npy y=out.npy
#   fsc run swiglu.dsl gate=g.npy up=u.npy y=out.npy -D GELU=True
@kernel(grid=(n_rows, cdiv(n_cols, BLOCK)), BLOCK=min(1024, next_power_of_2(n_cols)))
def swiglu(y: *T[n_rows:y_stride, n_cols], gate: *T[n_rows:gate_stride, n_cols], up: *T[n_rows:up_stride, n_cols],
           y_stride: i32, gate_stride: i32, up_stride: i32, n_rows: i32, n_cols: i32,
           BLOCK: constexpr = 1024, GELU: constexpr = False, T: dtype = fp32):
    row = program_id(0)
    cols = program_id(1) * BLOCK + arange(0, BLOCK)
    mask = cols < n_cols
    g = load(gate + row * gate_stride + cols, mask=mask).to(fp32)
    u = load(up + row * up_stride + cols, mask=mask).to(fp32)
    z = 1.5957691216 * (g + 0.044715 * g * g * g) if GELU else g
    store(y + row * y_stride + cols, g * sigmoid(z) * u, mask=mask)

# test: gate=random:0:fp32[5,300] up=random:1:fp32[5,300]
# expect y: gate * sigmoid(gate) * up
# test GeGLU: gate=random:0:fp32[5,300] up=random:1:fp32[5,300] -D GELU=True
# expect y: gate / 2 * (1 + tanh(sqrt(2 / pi) * (gate + 0.044715 * gate ** 3))) * up
