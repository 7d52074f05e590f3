# What flows back through swiglu.dsl: the gradients of gate and up.
#
#   s = sigmoid(z),   dup = dy * gate * s
#   dgate = dy * up * s * (1 + gate * (1 - s) * dz)
#   z = gate,                                     dz = 1                                         GELU = False
#   z = 2 sqrt(2 / pi) (gate + 0.044715 gate^3),  dz = 2 sqrt(2 / pi) (1 + 0.134145 gate^2)      GELU = True
#
# In place is fine: dgate may be gate, and dup may be up.
#
#   fsc run swiglu_backward.dsl dy=dy.npy gate=g.npy up=u.npy dgate=dg.npy dup=du.npy
@kernel(grid=(n_rows, cdiv(n_cols, BLOCK)), BLOCK=min(1024, next_power_of_2(n_cols)))
def swiglu_backward(dgate: *T[n_rows:dgate_stride, n_cols], dup: *T[n_rows:dup_stride, n_cols],
                    dy: *T[n_rows:dy_stride, n_cols], gate: *T[n_rows:gate_stride, n_cols],
                    up: *T[n_rows:up_stride, n_cols], dgate_stride: i32, dup_stride: i32, dy_stride: i32,
                    gate_stride: i32, up_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024,
                    GELU: constexpr = False, T: dtype = fp32):
    row = program_id(0)
    cols = program_id(1) * BLOCK + arange(0, BLOCK)
    mask = cols < n_cols
    d = load(dy + row * dy_stride + cols, mask=mask).to(fp32)
    g = load(gate + row * gate_stride + cols, mask=mask).to(fp32)
    u = load(up + row * up_stride + cols, mask=mask).to(fp32)
    z = 1.5957691216 * (g + 0.044715 * g * g * g) if GELU else g
    slope = g * (1.5957691216 + 0.214064454 * g * g) if GELU else g
    s = sigmoid(z)
    store(dup + row * dup_stride + cols, d * g * s, mask=mask)
    store(dgate + row * dgate_stride + cols, d * u * s * (1 + slope * sigmoid(-z)), mask=mask)

# test: dy=random:0:fp32[5,300] gate=random:1:fp32[5,300] up=random:2:fp32[5,300] --atol=1e-5
# expect dup: dy * gate * sigmoid(gate)
# expect dgate: dy * up * sigmoid(gate) * (1 + gate * (1 - sigmoid(gate)))
