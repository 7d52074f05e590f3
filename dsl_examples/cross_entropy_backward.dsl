# Cross-entropy and its gradient at once: x holds the scores before, and what flows back to them after. A large
# vocabulary needs no second matrix for that.
#
#   loss[i] = as in cross_entropy.dsl
#   x[i, j] = scale * (exp(x[i, j] - lse[i]) - (1 - smoothing) * [j = t] - smoothing / n_cols),   t = target[i]
#
# scale is what flows back to each loss: 1 / (rows that count) for their mean. A row whose target is ignore_index has
# the loss 0 and the gradient 0. Another target outside of 0 to n_cols - 1 gives NaN.
#
# One program takes one row: one read and one write of it, the row stays on chip in between. x[i, t] was read before it
# is written: where other threads read it than those that write it the compiler sees to it. Without smoothing numbers
# that may be alike are subtracted at the target alone. So in 16 bits the other exponentials are made anew from the
# scores, and need not be exact. Wide rows of 16 bits that begin anywhere are SHARED by more blocks than the compiler
# takes: fewer would have too few registers.
#
#   fsc run cross_entropy_backward.dsl x=logits.npy target=t.npy loss=loss.npy scale=.01 ignore_index=-1 smoothing=.1
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), SMOOTH=smoothing > 0,
        SHARED=BLOCK // 16384 if x_stride % 8 > 0 and 32768 < BLOCK <= 131072 and T.primitive_bitwidth <= 16 and
        max_shared() > 200000 else 0,
        num_warps=8 if SHARED > 0 else 0, num_ctas=SHARED, require=(BLOCK >= n_cols,))
def cross_entropy_backward(loss: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols], target: *i32[n_rows], x_stride: i32,
                           n_rows: i32, n_cols: i32, ignore_index: i32, smoothing: fp32, scale: fp32,
                           BLOCK: constexpr = 1024, SMOOTH: constexpr = True, SHARED: constexpr = 0, T: dtype = fp32):
    row = program_id(0)
    x_row = x + row * x_stride
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x_row + cols, mask=mask, other=-inf).to(fp32)
    t = load(target + row)
    x_t = load(x_row + t, mask=(t >= 0) & (t < n_cols), other=nan).to(fp32)
    r = x_t if abs(x_t) < inf else 0.0
    above = 0.0
    if SMOOTH:
        above = sum(where(mask, v - r, 0.0), axis=0)

    m = max(v, axis=0)
    shift = 0.0 if m == -inf else m
    p = exp(v - shift)
    s = sum(p, axis=0)

    e = log(s) + (m - x_t)
    if SMOOTH:
        e = log(s) + (1 - smoothing) * (m - x_t) + smoothing * ((m - r) - above / n_cols)
    store(loss + row, 0.0 if t == ignore_index else e)

    if SMOOTH or T.primitive_bitwidth > 16:
        each = scale * smoothing / n_cols
        d = p * (scale / s if e == e else nan) - where(cols == t, scale * (1 - smoothing) + each, each)
    else:
        k = scale if e == e else nan
        d = where(cols == t, exp(x_t - shift) * (k / s) - k, exp(v - (shift + log(s))) * k)
    store(x_row + cols, where(t == ignore_index, 0.0, d), mask=mask)

# test: x=random:0:fp32[16,101] target=random:1:i32[16] ignore_index=37 smoothing=0.125 scale=0.5
# expect x: where(target[:, None] == ignore_index, 0, where((target[:, None] < 0) | (target[:, None] >= n_cols), nan, \
#           scale * (exp(x) / sum(exp(x), axis=1) - (1 - smoothing) * (arange(n_cols) == target[:, None]) \
#           - smoothing / n_cols)))
# expect loss: cross_entropy.dsl
