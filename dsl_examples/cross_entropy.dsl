# Cross-entropy of each row of scores with the class it should have, and the row's log-sum-exp for a backward pass.
#
#   lse[i]  = log(sum_j exp(x[i, j]))
#   loss[i] = lse[i] - (1 - smoothing) * x[i, t] - smoothing * (sum_j x[i, j]) / n_cols,   t = target[i]
#
# One program takes one row: one read of it, which is on its way before the target is asked for. lse is m + log(s), with
# m the maximum and s the sum of exp(x - m); in the loss the large m meets the large x[i, t] first, so that rows far
# from 0 keep their digits. For the same reason the mean is that of x - r, with r = x[i, t]. A row whose target is
# ignore_index has the loss 0. Another target outside of 0 to n_cols - 1 gives NaN.
#
#   fsc run cross_entropy.dsl x=logits.npy target=classes.npy loss=loss.npy lse=lse.npy ignore_index=-100 smoothing=0.1
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), SMOOTH=smoothing > 0, require=(BLOCK >= n_cols,))
def cross_entropy(loss: *fp32[n_rows], lse: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols], target: *i32[n_rows],
                  x_stride: i32, n_rows: i32, n_cols: i32, ignore_index: i32, smoothing: fp32,
                  BLOCK: constexpr = 1024, SMOOTH: constexpr = True, T: dtype = fp32):
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
    s = sum(exp(v - shift), axis=0)

    store(lse + row, m + log(s))
    e = log(s) + (m - x_t)
    if SMOOTH:
        e = log(s) + (1 - smoothing) * (m - x_t) + smoothing * ((m - r) - above / n_cols)
    store(loss + row, 0.0 if t == ignore_index else e)

# test targets that are none: x=random:0:fp32[16,60] target=random:1:i32[16] ignore_index=-25 smoothing=0.125
# expect lse: log(sum(exp(x), axis=1))
# expect loss: where(target[:, None] == ignore_index, 0, \
#           where((target[:, None] < 0) | (target[:, None] >= n_cols), nan, \
#           log(sum(exp(x), axis=1)) - (1 - smoothing) * sum(where(arange(n_cols) == target[:, None], x, 0), axis=1) \
#           - smoothing * mean(x, axis=1)))
